import { ConnectionError, InvalidMessageError, TimeoutError } from 'waku-light/errors'
import { STORE_QUERY_3 } from 'waku-light/store'
import { encodeStoreQueryResponse } from 'waku-light/wire'
import type { Archive } from './archive.ts'
import type { FakePeer } from './fake-peers.ts'

/** What may go wrong with a request. */
export const FAULTS = ['broken', 'silent', 'garbage', 'busy', 'down', 'forgetful', 'left'] as const
export type Fault = (typeof FAULTS)[number] | undefined

/** A peer with an archive, in whose way faults stand, each once. */
export function faultyPeer(
  peerId: string,
  archive: Archive,
  protocols: readonly string[],
  nextFault: () => Fault
): FakePeer {
  let cursorsLost = false
  return {
    peerId,
    protocols,
    answer: ({ protocol, bytes }) => {
      switch (nextFault()) {
        case 'broken':
        case 'left':
          throw new ConnectionError('the stream broke')
        case 'silent':
          throw new TimeoutError('store query', 1)
        case 'garbage':
          throw new InvalidMessageError('garbage')
        case 'busy':
          if (protocol === STORE_QUERY_3.protocol) {
            return encodeStoreQueryResponse({ requestId: 'N/A', statusCode: 429, messages: [] })
          }
          throw new ConnectionError('busy')
        case 'down':
          if (protocol === STORE_QUERY_3.protocol) {
            return encodeStoreQueryResponse({ requestId: '', statusCode: 503, messages: [] })
          }
          throw new ConnectionError('down')
        case 'forgetful':
          cursorsLost = true
          break
        default:
      }
      archive.forgetsCursors = cursorsLost
      cursorsLost = false
      return archive.answer(protocol, bytes)
    }
  }
}
