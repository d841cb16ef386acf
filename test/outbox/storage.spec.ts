import { indexedDbStorage, memoryStorage } from 'waku-light/outbox'
import { failureOf } from '../helpers/collect.ts'
import { describeStorage } from './storages.ts'

describe('memoryStorage', () => {
  describeStorage(memoryStorage)
})

describe('indexedDbStorage', () => {
  it('rejects an empty name', async () => {
    await failureOf('ERR_INVALID_ARGUMENT', () => indexedDbStorage(''))
  })
})
