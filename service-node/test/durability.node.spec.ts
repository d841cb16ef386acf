import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { messageHash, toHex } from 'waku-light/message'
import { decodeWakuMessage } from 'waku-light/wire'
import { CLI, NODE_ARGS, ROOT } from './helpers/cli.ts'
import { CLUSTER, encodeMessage, TOPIC } from './helpers/messages.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'
import { query } from './helpers/store.ts'

describe('durability', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  async function spawnNode(file: string): Promise<{ child: ChildProcess; address: string }> {
    const args = [
      ...NODE_ARGS,
      CLI,
      '--cluster-id',
      String(CLUSTER),
      '--standalone',
      '--database',
      file,
      '--log-level',
      'error'
    ]
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    resources.add(() => child.kill('SIGKILL'))
    if (child.stdout === null) {
      throw new Error('no output')
    }
    const [address] = await once(createInterface(child.stdout), 'line')
    return { child, address }
  }

  it('has all that it acknowledged after it was killed', async () => {
    const file = join(resources.directory(), 'archive.db')
    const { child, address } = await spawnNode(file)
    const exited = once(child, 'exit')
    const client = await resources.client()
    const acknowledged: string[] = []
    // Killed in the midst of pushes: some of them are never answered.
    const pushOn = async (): Promise<void> => {
      while (child.exitCode === null && !child.killed) {
        const encoded = encodeMessage()
        const { statusCode } = await push(client, address, encoded)
        expect(statusCode).to.equal(200)
        acknowledged.push(toHex(messageHash(TOPIC, decodeWakuMessage(encoded))))
        if (acknowledged.length === 60) {
          child.kill('SIGKILL')
        }
      }
    }
    await Promise.allSettled([1, 2, 3, 4].map(pushOn))
    expect(await exited).to.deep.equal([null, 'SIGKILL'])
    expect(acknowledged).to.have.length.within(60, 70)
    const again = await resources.node({ databaseFile: file })
    const hashes: string[] = []
    for (let cursor: Uint8Array<ArrayBuffer> | undefined; ; ) {
      const page = await query(client, again.multiaddrs[0], {
        paginationLimit: 100n,
        paginationCursor: cursor
      })
      hashes.push(...page.hashes)
      cursor = page.paginationCursor
      if (cursor === undefined) {
        break
      }
    }
    expect(hashes).to.include.members(acknowledged)
    expect(again.messageCount()).to.equal(hashes.length)
  })

  it('refuses a file that another process has, and the file is unharmed', async () => {
    const file = join(resources.directory(), 'archive.db')
    const { address } = await spawnNode(file)
    const client = await resources.client()
    expect((await push(client, address, encodeMessage())).statusCode).to.equal(200)
    const error = await resources.node({ databaseFile: file }).catch((reason: Error) => reason)
    expect(error).to.have.property('code', 'ERR_DATABASE_IN_USE')
    expect((await push(client, address, encodeMessage())).statusCode).to.equal(200)
    expect((await query(client, address)).hashes).to.have.lengthOf(2)
  })
})
