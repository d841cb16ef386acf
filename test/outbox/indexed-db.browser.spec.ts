import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import {
  createOutbox,
  indexedDbStorage,
  type Outbox,
  type OutboxLightPush
} from 'waku-light/outbox'
import { failureOf } from '../helpers/collect.ts'
import { describeStorage, draft } from './storages.ts'
import { text } from './world.ts'

let count = 0
const names: string[] = []

function newName(): string {
  const name = `outbox-test-${Date.now()}-${count++}`
  names.push(name)
  return name
}

function remove(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name)
    request.onsuccess = () => resolve()
    request.onerror = () => reject(request.error ?? new Error('not removed'))
  })
}

/** Publishes everything, unless it is told otherwise. */
class Pushes implements OutboxLightPush {
  readonly texts: string[] = []
  isOffline = false

  readonly push: OutboxLightPush['push'] = async (message, options) => {
    if (this.isOffline) {
      throw new ConnectionError('offline')
    }
    await options.proof?.(
      { ...message, payload: new Uint8Array(message.payload), timestamp: 1n, meta: undefined },
      '/waku/2/rs/1/0'
    )
    this.texts.push(new TextDecoder().decode(message.payload))
    return { status: 'published', attempts: [{ status: 'published', reason: 'accepted' }] }
  }
}

function finished(outbox: Outbox, id: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (outbox.get(id)?.finishedAtMs !== undefined) {
        end()
        resolve()
      }
    }
    const end = outbox.onChange(look)
    look()
  })
}

function changed(outbox: Outbox, id: string, reason: string): Promise<void> {
  return new Promise((resolve) => {
    const end = outbox.onChange(({ entry }) => {
      if (entry.id === id && entry.reason === reason) {
        end()
        resolve()
      }
    })
  })
}

describe('indexedDbStorage in a browser', () => {
  after(async () => {
    await Promise.all(names.splice(0).map(remove))
  })

  describeStorage(() => indexedDbStorage(newName()))

  it('is shared by all that use the name', async () => {
    const name = newName()
    const [one, two] = [indexedDbStorage(name), indexedDbStorage(name)]
    const [first, second] = await Promise.all([
      one.add(draft('x'), text('x')),
      two.add(draft('x'), text('x'))
    ])
    expect(first).to.deep.equal(second)
    expect(await two.entries()).to.deep.equal([first])
    await Promise.all([one.close(), two.close()])
  })

  it('stores nothing of an entry whose content cannot be stored', async () => {
    const storage = indexedDbStorage(newName())
    const content = { ...text('x'), meta: (() => {}) as unknown as Uint8Array }
    await failureOf('ERR_STORAGE', () => storage.add(draft('x'), content))
    expect(await storage.entries()).to.deep.equal([])
    await storage.close()
  })

  it('lets go when the database is deleted, and begins anew', async () => {
    const name = newName()
    const storage = indexedDbStorage(name)
    await storage.add(draft('x'), text('x'))
    await remove(name)
    expect(await storage.entries()).to.deep.equal([])
    await storage.close()
  })

  it('says so where a newer version of the package wrote it', async () => {
    const name = newName()
    await new Promise<void>((resolve, reject) => {
      const request = indexedDB.open(name, 99)
      request.onsuccess = () => {
        request.result.close()
        resolve()
      }
      request.onerror = () => reject(request.error ?? new Error('not opened'))
    })
    const storage = indexedDbStorage(name)
    expect(await failureOf('ERR_STORAGE', () => storage.entries())).to.include({
      reason: 'newer-schema'
    })
    await failureOf('ERR_STORAGE', () => createOutbox({ lightPush: new Pushes() }, { storage }))
  })
})

describe('createOutbox in a browser', () => {
  after(async () => {
    await Promise.all(names.splice(0).map(remove))
  })

  it('has one of two send, and the other take over', async () => {
    const name = newName()
    const lightPush = [new Pushes(), new Pushes()] as const
    const one = await createOutbox({ lightPush: lightPush[0] }, { storage: indexedDbStorage(name) })
    const two = await createOutbox({ lightPush: lightPush[1] }, { storage: indexedDbStorage(name) })
    const a = await two.enqueue(text('a'))
    await Promise.all([finished(one, a.id), finished(two, a.id)])
    expect(lightPush[0].texts).to.deep.equal(['a'])
    await one.close()
    const b = await two.enqueue(text('b'))
    await finished(two, b.id)
    expect(lightPush[1].texts).to.deep.equal(['b'])
    await two.close()
    const { held = [] } = await navigator.locks.query()
    expect(held.filter((lock) => lock.name?.includes(name))).to.deep.equal([])
  })

  it('survives a mount, unmount and mount at once', async () => {
    const name = newName()
    const lightPush = new Pushes()
    const mount = (): Promise<Outbox> =>
      createOutbox({ lightPush }, { storage: indexedDbStorage(name) })
    const first = mount()
    const unmounted = first.then((outbox) => outbox.close())
    const outbox = await mount()
    const { id } = await outbox.enqueue(text('a'))
    await finished(outbox, id)
    await unmounted
    expect(lightPush.texts).to.deep.equal(['a'])
    await outbox.close()
  })

  it('goes on with what an earlier one left, at once when online', async () => {
    const name = newName()
    const lightPush = new Pushes()
    lightPush.isOffline = true
    const init = { minBackoffMs: 3_600_000, maxBackoffMs: 3_600_000 }
    const before = await createOutbox({ lightPush }, { ...init, storage: indexedDbStorage(name) })
    const entry = await before.enqueue(text('a'), { id: 'mine' })
    await before.close()
    const outbox = await createOutbox({ lightPush }, { ...init, storage: indexedDbStorage(name) })
    expect(outbox.list().map(({ id, seq }) => [id, seq])).to.deep.equal([['mine', entry.seq]])
    await changed(outbox, 'mine', 'not-sent')
    lightPush.isOffline = false
    dispatchEvent(new Event('online'))
    await finished(outbox, 'mine')
    expect(lightPush.texts).to.deep.equal(['a'])
    await outbox.close()
    dispatchEvent(new Event('online'))
  })

  it('stops when its lock is stolen, and asks for it again', async () => {
    const name = newName()
    const lightPush = new Pushes()
    const init = { minBackoffMs: 1 }
    const outbox = await createOutbox({ lightPush }, { ...init, storage: indexedDbStorage(name) })
    await finished(outbox, (await outbox.enqueue(text('a'))).id)
    const { promise, resolve } = Promise.withResolvers<void>()
    const lock = `waku-light/outbox/${indexedDbStorage(name).scope}`
    const thief = navigator.locks.request(lock, { steal: true }, () => promise)
    const { id } = await outbox.enqueue(text('b'))
    expect(lightPush.texts).to.deep.equal(['a'])
    resolve()
    await thief
    await finished(outbox, id)
    expect(lightPush.texts).to.deep.equal(['a', 'b'])
    await outbox.close()
  })
})
