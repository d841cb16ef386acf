import { expect } from 'chai'
import { createIndexedDbArchive, createMemoryArchive } from 'waku-light/archive'
import { failureOf } from '../helpers/collect.ts'

describe('waku-light/archive, where there is no browser', () => {
  it('is imported without a look at IndexedDB or a channel', async () => {
    const touched: string[] = []
    const restore = ['indexedDB', 'IDBKeyRange', 'BroadcastChannel'].map((name) => {
      const own = Object.getOwnPropertyDescriptor(globalThis, name)
      Object.defineProperty(globalThis, name, {
        configurable: true,
        get: () => touched.push(name)
      })
      return () => {
        Reflect.deleteProperty(globalThis, name)
        if (own !== undefined) Object.defineProperty(globalThis, name, own)
      }
    })
    try {
      await import(new URL('../../src/archive/index.ts?again', import.meta.url).href)
      await createMemoryArchive().close()
    } finally {
      for (const back of restore) back()
    }
    expect(touched).to.deep.equal([])
  })

  it('says that there is no IndexedDB', async () => {
    const error = await failureOf('ERR_STORAGE', () => createIndexedDbArchive('chat'))
    expect(error.reason).to.equal('unavailable')
  })
})
