import type { Multiaddr } from '@multiformats/multiaddr'
import type { Dial } from './dial.ts'

/**
 * Dials an address when the dial of it before has ended, be it that it was given up just now: libp2p makes one dial of all that
 * are to one peer, and who joins one that is being given up waits for the old one, or fails with it.
 */
export function soleDial(libp2p: Dial): Dial {
  const dials = new Map<string, Promise<unknown>>()
  return {
    dial: async (address, options) => {
      const key = (address as Multiaddr).toString()
      const before = dials.get(key)
      const dialing = (async () => {
        await before?.catch(() => undefined)
        options?.signal?.throwIfAborted()
        return await libp2p.dial(address, options)
      })()
      dials.set(key, dialing)
      try {
        return await dialing
      } finally {
        if (dials.get(key) === dialing) {
          dials.delete(key)
        }
      }
    }
  }
}
