import type { StoredMessage } from '../store/page.ts'
import { compareOrder, timeOf } from './entries.ts'
import type { Selection } from './selection.ts'

/** How many entries of a sorted list come first, by a condition that holds for those and for no other. */
export function rank(
  sorted: readonly StoredMessage[],
  comesFirst: (entry: StoredMessage) => boolean
): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (comesFirst(sorted[middle] as StoredMessage)) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}

/** Adds sorted entries to a sorted list; cheap where they come after it, as live ones do. */
export function insertSorted(sorted: StoredMessage[], fresh: readonly StoredMessage[]): void {
  const [first] = fresh
  if (first === undefined) {
    return
  }
  const tail = sorted.splice(rank(sorted, (entry) => compareOrder(entry, first) < 0))
  let next = 0
  for (const entry of tail) {
    for (; next < fresh.length; next++) {
      const candidate = fresh[next] as StoredMessage
      if (compareOrder(candidate, entry) > 0) {
        break
      }
      sorted.push(candidate)
    }
    sorted.push(entry)
  }
  for (; next < fresh.length; next++) {
    sorted.push(fresh[next] as StoredMessage)
  }
}

/** The next entry within the bounds of a selection, after one that was there before; the first one after undefined. */
export function entryAfter(
  sorted: readonly StoredMessage[],
  { forward, from, to }: Selection,
  last: StoredMessage | undefined
): StoredMessage | undefined {
  const start = forward ? from : to
  const passed = rank(sorted, (entry) => {
    const order = last === undefined ? undefined : compareOrder(entry, last)
    return order === undefined ? timeOf(entry) < start : order < 0 || (forward && order === 0)
  })
  const entry = sorted[forward ? passed : passed - 1]
  return entry !== undefined && timeOf(entry) >= from && timeOf(entry) < to ? entry : undefined
}
