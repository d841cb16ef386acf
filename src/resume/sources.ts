import type { SourceState } from '../store/roster.ts'

/** What became of each node over two walks, one after the other. */
export function joinSources(
  before: readonly SourceState[],
  after: readonly SourceState[]
): SourceState[] {
  const all = new Map(before.map((state) => [state.peerId, state]))
  for (const state of after) {
    const { lackedCount = 0, since = state.since, failure } = all.get(state.peerId) ?? {}
    all.set(state.peerId, {
      ...state,
      lackedCount: lackedCount + state.lackedCount,
      since,
      failure: state.failure ?? failure
    })
  }
  return [...all.values()]
}
