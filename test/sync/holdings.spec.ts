import { expect } from 'chai'
import type { SyncArchive } from '../../src/sync/components.ts'
import { openHoldings } from '../../src/sync/holdings.ts'
import { makeMessages, NOW } from './fixtures.ts'

const { signal } = new AbortController()

describe('openHoldings', () => {
  /** An archive that is read until it fails, and how many are subscribed to it. */
  function archiveOf(messages: ReturnType<typeof makeMessages>, failure?: Error) {
    const subscribed = new Set<unknown>()
    const archive: Pick<SyncArchive, 'walkKeys' | 'subscribe'> = {
      async *walkKeys() {
        yield* messages
        if (failure !== undefined) {
          throw failure
        }
      },
      subscribe: (listener) => {
        subscribed.add(listener)
        return () => subscribed.delete(listener)
      }
    }
    return { archive: archive as SyncArchive, subscribed }
  }

  it('lets go of an archive that cannot be read', async () => {
    const failure = new Error('out of order')
    const { archive, subscribed } = archiveOf(makeMessages(3), failure)
    const opened = openHoldings({ archive, maxEntries: 10 }, 0n)
    expect(await opened.catch((error: unknown) => error)).to.equal(failure)
    expect(subscribed.size).to.equal(0)
  })

  it('does not take its index for one of what had to go', async () => {
    const { archive } = archiveOf(makeMessages(9))
    const holdings = await openHoldings({ archive, maxEntries: 8 }, 0n)
    expect(holdings.index.size).to.be.below(9)
    // what is pruned later than that does not bring it back
    holdings.prune(1n)
    const all = { timeStart: 1n, timeEnd: NOW }
    const selected = holdings.select(all, signal)
    expect(await selected.catch((error: unknown) => error)).to.have.property(
      'code',
      'ERR_LIMIT_EXCEEDED'
    )
    expect(await holdings.select({ timeStart: NOW - 1n, timeEnd: NOW }, signal)).to.equal(
      holdings.index
    )
  })
})
