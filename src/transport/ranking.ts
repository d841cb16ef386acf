import type { Peer } from './peer.ts'

/** More than a success is worth, less than a failure takes. */
const CONNECTED = 1.5

/** More than standings can amount to. */
const RESTING = 100
const LACKING = 2 * RESTING
const REFUSED = 2 * LACKING

/**
 * Nodes in the order in which to try them.
 *
 * @param protocols - what they are wanted for; none: anything
 * @see ServicePeers.candidates
 */
export function ranked(
  peers: readonly Peer[],
  protocols: readonly string[],
  isConnected: (peer: Peer) => boolean
): readonly Peer[] {
  const costOf = (peer: Peer): number => {
    const { standing } = peer.at(protocols)
    const lacks =
      protocols.length > 0 &&
      peer.protocols?.some((protocol) => protocols.includes(protocol)) === false
    const link = isConnected(peer) ? CONNECTED : Math.min(0, peer.link.value)
    return (
      (peer.refusal === undefined ? 0 : REFUSED) +
      (lacks ? LACKING : 0) +
      (standing.restMs > 0 ? RESTING : 0) -
      (link + standing.value)
    )
  }
  return peers
    .map((peer) => ({ peer, cost: costOf(peer) }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ peer }) => peer)
}
