import { createMemoryArchive } from 'waku-light/archive'
import { archiveContract } from './contract.ts'
import { archiveProperties } from './properties.ts'

const create = async (): Promise<ReturnType<typeof createMemoryArchive>> => createMemoryArchive()

archiveContract('createMemoryArchive', create)
archiveProperties('createMemoryArchive', create, 100)
