import { compareSyncIds, type SyncId } from '../wire/sync-payload.ts'

/** What two sides hold at one time. */
export interface TimeGroup {
  readonly timestamp: bigint
  /** All that is ours. */
  readonly held: readonly SyncId[]
  /** What is ours alone. */
  readonly toSend: readonly SyncId[]
  /** What is theirs alone. */
  readonly toFetch: readonly SyncId[]
}

/** Compares two ascending lists, one group for each time at which either side holds something. */
export function* compareByTime(
  ours: Iterator<SyncId, unknown>,
  theirs: readonly SyncId[]
): Generator<TimeGroup, void, undefined> {
  let mine = take(ours)
  let index = 0
  for (;;) {
    const their = theirs[index]
    const timestamp = compare(mine, their) <= 0 ? mine?.timestamp : their?.timestamp
    if (timestamp === undefined) {
      return
    }
    const held: SyncId[] = []
    const toSend: SyncId[] = []
    const toFetch: SyncId[] = []
    for (let other = their; mine?.timestamp === timestamp || other?.timestamp === timestamp; ) {
      const order = compare(mine, other)
      if (order <= 0 && mine !== undefined) {
        held.push(mine)
        if (order < 0) {
          toSend.push(mine)
        }
        mine = take(ours)
      }
      if (order >= 0 && other !== undefined) {
        if (order > 0) {
          toFetch.push(other)
        }
        other = theirs[++index]
      }
    }
    yield { timestamp, held, toSend, toFetch }
  }
}

function take(ids: Iterator<SyncId, unknown>): SyncId | undefined {
  const result = ids.next()
  return result.done === true ? undefined : result.value
}

/** As `compareSyncIds`, with the end of a list after everything. */
function compare(mine: SyncId | undefined, their: SyncId | undefined): number {
  if (mine === undefined || their === undefined) {
    return mine === their ? 0 : mine === undefined ? 1 : -1
  }
  return compareSyncIds(mine, their)
}
