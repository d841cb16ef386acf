import { expect } from 'chai'
import type { StorageError } from 'waku-light/errors'
import { collect, failure, failureOf } from '../helpers/collect.ts'
import { Databases } from './databases.ts'
import { history, stored, textsOf } from './messages.ts'

/** As large as no message is here but the one that does not fit. */
const LARGE = new Uint8Array(100_000)

describe('createIndexedDbArchive, when the platform fails', () => {
  const databases = new Databases()
  let restore: (() => void)[] = []

  afterEach(async () => {
    for (const back of restore) back()
    restore = []
    await databases.clear()
  })

  /** Replaces a method until the end of the test. */
  function replace<Target, Name extends keyof Target>(
    target: Target,
    name: Name,
    make: (original: Target[Name]) => Target[Name]
  ): void {
    const original = target[name]
    restore.push(() => {
      target[name] = original
    })
    target[name] = make(original)
  }

  /** A disk without room for large messages; as in real ones, it shows when a transaction is committed. */
  function fillDisk(): void {
    replace(
      IDBObjectStore.prototype,
      'add',
      (add) =>
        function (this: IDBObjectStore, value: { contents: { payload: Uint8Array }[] }) {
          const request = add.call(this, value)
          if (value.contents.some(({ payload }) => payload.length === LARGE.length)) {
            const { transaction } = this
            Object.defineProperty(transaction, 'error', {
              value: new DOMException('full', 'QuotaExceededError')
            })
            request.addEventListener('success', () => transaction.abort())
          }
          return request
        }
    )
  }

  it('rejects where there is no room, stores nothing of that call, and loses nothing', async () => {
    const archive = await databases.archive()
    const many = history(50)
    await archive.putMany(many, { marks: { a: 1 } })
    fillDisk()
    const more = [...history(30, 1_800_000_000n), stored(1n, '', { payload: LARGE })]
    const told: unknown[] = []
    archive.subscribe((messages) => told.push(messages))
    const error = await failureOf('ERR_STORAGE_FULL', () =>
      archive.putMany(more, { marks: { a: 2 } })
    )
    expect(error.cause).to.have.property('name', 'QuotaExceededError')
    expect(told).to.deep.equal([])
    expect(await archive.getMark('a')).to.equal(1)
    expect(await collect(archive.walk())).to.deep.equal(many)
    expect(await archive.putMany(more.slice(0, 30), { marks: { a: 3 } })).to.have.length(30)
  })

  it('does not let others suffer that were put at the same time', async () => {
    const archive = await databases.archive()
    fillDisk()
    const [first, large, second] = await Promise.allSettled([
      archive.putMany([stored(1n, 'a'), stored(2n, 'b')]),
      archive.putMany([stored(3n, '', { payload: LARGE })]),
      archive.putMany([stored(2n, 'b'), stored(4n, 'c')])
    ])
    expect(large.status).to.equal('rejected')
    expect(first).to.have.property('value').with.length(2)
    expect(second).to.have.property('value').with.length(1)
    expect(textsOf(await collect(archive.walk()))).to.deep.equal(['a', 'b', 'c'])
  })

  it('notices that the browser closed the database', async () => {
    const connections: IDBDatabase[] = []
    replace(
      IDBFactory.prototype,
      'open',
      (open) =>
        function (this: IDBFactory, ...args: Parameters<IDBFactory['open']>) {
          const request = open.apply(this, args)
          request.addEventListener('success', () => connections.push(request.result))
          return request
        }
    )
    const errors: StorageError[] = []
    const archive = await databases.archive(undefined, { onLost: (error) => errors.push(error) })
    await archive.putMany(history(5))
    connections[0]?.close()
    connections[0]?.dispatchEvent(new Event('close'))
    const error = await failureOf('ERR_STORAGE', () => archive.count())
    expect(error.reason).to.equal('lost')
    expect(errors).to.deep.equal([error])
  })

  it('rejects with a reason where a connection is gone without a word', async () => {
    replace(IDBDatabase.prototype, 'transaction', () => () => {
      throw new DOMException('closing', 'InvalidStateError')
    })
    const archive = await databases.archive()
    for (const call of [
      () => archive.putMany(history(1)),
      () => archive.count(),
      () => archive.get([]),
      () => collect(archive.walk())
    ]) {
      const error = await failureOf('ERR_STORAGE', call)
      expect(error.reason).to.equal('lost')
      expect(error.cause).to.have.property('name', 'InvalidStateError')
    }
  })

  it('keeps what else a platform says as the cause', async () => {
    const archive = await databases.archive()
    replace(IDBIndex.prototype, 'count', () => () => {
      throw new DOMException('disk', 'UnknownError')
    })
    const error = await failureOf('ERR_STORAGE', () => archive.count())
    expect(error.reason).to.equal('failed')
    expect(error.cause).to.have.property('name', 'UnknownError')
  })

  it('rejects where there is no IndexedDB, and where it is not allowed', async () => {
    const forbidden = {
      open: () => {
        throw new DOMException('no', 'SecurityError')
      }
    }
    const own = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB')
    restore.push(() => {
      Reflect.deleteProperty(globalThis, 'indexedDB')
      if (own !== undefined) Object.defineProperty(globalThis, 'indexedDB', own)
    })
    const name = databases.name()
    for (const value of [undefined, forbidden]) {
      Object.defineProperty(globalThis, 'indexedDB', { value, configurable: true })
      const error = await failureOf('ERR_STORAGE', () => databases.archive(name))
      expect(error.reason).to.equal('unavailable')
    }
  })

  it('ends a call in the turn in which its signal is aborted, whatever the database does', async () => {
    const archive = await databases.archive()
    const controller = new AbortController()
    const reason = new Error('enough')
    const put = archive.putMany(history(500), { signal: controller.signal })
    const waiting = archive.putMany([stored(1n, 'never')], { signal: controller.signal })
    controller.abort(reason)
    expect(await failure(() => put)).to.equal(reason)
    expect(await failure(() => waiting)).to.equal(reason)
    await archive.putMany([stored(2n, 'after')])
    expect(textsOf(await collect(archive.walk()))).to.deep.equal(['after'])
  })
})
