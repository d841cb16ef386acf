import type { Peer } from './peer.ts'
import { serviceOf } from './services.ts'

/** More than a success is worth, less than a failure takes. */
const CONNECTED = 1.5

/**
 * Nodes in the order in which to try them.
 *
 * @param protocols - what they are wanted for; undefined for anything
 * @see ServicePeers.candidates
 */
export function ranked(
  peers: readonly Peer[],
  protocols: readonly string[] | undefined,
  isConnected: (peer: Peer) => boolean
): readonly Peer[] {
  const [first] = protocols ?? []
  const keys = new Map(
    peers.map((peer) => {
      const record = first === undefined ? undefined : peer.services.get(serviceOf(first))
      const lacks =
        protocols !== undefined &&
        peer.protocols?.some((protocol) => protocols.includes(protocol)) === false
      const link = isConnected(peer) ? CONNECTED : Math.min(0, peer.link.value)
      return [
        peer,
        [
          Number(peer.refusal !== undefined),
          Number(lacks),
          Number((record?.standing.restMs ?? 0) > 0),
          -(link + (record?.standing.value ?? 0))
        ] as const
      ]
    })
  )
  const compare = (a: Peer, b: Peer): number => {
    const [left = [], right = []] = [keys.get(a), keys.get(b)]
    const differences = left.map((value, index) => value - (right[index] ?? 0))
    return differences.find((difference) => difference !== 0) ?? 0
  }
  return [...peers].sort(compare)
}
