import type { ServicePeer } from '../transport/service-peers.ts'
import type { Rests } from './rests.ts'

/** What one push knows of a node. */
export interface NodeRecord {
  tries: number
  /** Tries of which nobody knows what became: each may have brought the message there. */
  unknowns: number
  /** True while a try is under way, and after one that leaves nothing to be tried. */
  isOut: boolean
}

/** By peer id, and by address where that is not known yet. */
export type NodeRecords = Map<string, NodeRecord>

/** A node that may be tried. */
export interface Candidate {
  readonly peer: ServicePeer
  readonly node: NodeRecord
  /** For how long it is to be left alone, in milliseconds. */
  readonly restMs: number
}

/** The node to try next: one that cannot have the message before others, then one that does not rest, then untried ones. */
export function nextOf(
  peers: readonly ServicePeer[],
  nodes: NodeRecords,
  rests: Rests
): Candidate | undefined {
  const [next] = peers
    .map((peer) => ({
      peer,
      node: nodes.get(peer.peerId) ?? { tries: 0, unknowns: 0, isOut: false },
      restMs: rests.remainingMs(peer.peerId)
    }))
    .filter(({ node }) => !node.isOut && node.unknowns < 2)
    .sort(
      (a, b) =>
        a.node.unknowns - b.node.unknowns ||
        Number(a.restMs > 0) - Number(b.restMs > 0) ||
        a.node.tries - b.node.tries ||
        a.restMs - b.restMs
    )
  return next
}
