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

/** Comes after all that is in a list. */
const END: SyncId = { timestamp: 2n ** 64n, hash: /* @__PURE__ */ new Uint8Array() }

/** Compares two ascending lists, one group for each time at which either side holds something. */
export function* compareByTime(
  ours: Iterator<SyncId, unknown>,
  theirs: readonly SyncId[]
): Generator<TimeGroup, void, undefined> {
  const next = (): SyncId => (ours.next().value as SyncId | undefined) ?? END
  let mine = next()
  for (let index = 0; ; ) {
    let their = theirs[index] ?? END
    const { timestamp } = compareSyncIds(mine, their) < 0 ? mine : their
    if (timestamp === END.timestamp) {
      return
    }
    const held: SyncId[] = []
    const toSend: SyncId[] = []
    const toFetch: SyncId[] = []
    while (mine.timestamp === timestamp || their.timestamp === timestamp) {
      const order = compareSyncIds(mine, their)
      if (order < 0) {
        toSend.push(mine)
      } else if (order > 0) {
        toFetch.push(their)
      }
      if (order <= 0) {
        held.push(mine)
        mine = next()
      }
      if (order >= 0) {
        their = theirs[++index] ?? END
      }
    }
    yield { timestamp, held, toSend, toFetch }
  }
}
