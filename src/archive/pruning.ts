import { compareBytes } from '../lib/bytes.ts'
import { change, resultOf } from '../lib/indexed-db.ts'
import type { StoredMessage } from '../store/page.ts'
import { type Chunk, fromChunk, toChunks } from './chunk.ts'
import { MAX_TIME, MIN_TIME, toKey, toTimeKey } from './keys.ts'
import type { toPruneLimits } from './limits.ts'
import { countMessages, LARGEST_READ, type Reader, walkChunks } from './reading.ts'
import { toSelection } from './selection.ts'

/**
 * Removes old messages.
 *
 * @returns how many
 */
export async function prune(
  reader: Reader,
  { before, maxCount }: ReturnType<typeof toPruneLimits>
): Promise<number> {
  const limit = toTimeKey(before ?? MIN_TIME)
  for (;;) {
    const count = maxCount === Infinity ? 0 : await reader(countMessages)
    const oldest = count > maxCount ? await keyAt(reader, count - maxCount) : limit
    const removed = await reader((database) =>
      compareBytes(oldest, limit) > 0
        ? removeBefore(database, oldest, maxCount)
        : removeBefore(database, limit, 0)
    )
    if (removed !== undefined) {
      return removed
    }
  }
}

/** Key of the message that has so many before it; that of the end if there is none. */
async function keyAt(reader: Reader, index: number): Promise<Uint8Array<ArrayBuffer>> {
  let passed = 0
  for await (const message of walkChunks(reader, toSelection())) {
    if (passed++ === index) {
      return toKey(message)
    }
  }
  return toTimeKey(MAX_TIME)
}

/**
 * Reads what it removes: that is quicker than counting what there is, before and after.
 *
 * @returns how many; undefined, and none is removed, if fewer than `minCount` would be left: others have removed some meanwhile
 */
async function removeBefore(
  database: IDBDatabase,
  key: Uint8Array<ArrayBuffer>,
  minCount: number
): Promise<number | undefined> {
  return await change(database, ['chunks'], async (store) => {
    const count = minCount > 0 ? await resultOf<number>(store.index('hashes').count()) : Infinity
    const kept: StoredMessage[] = []
    let removed = 0
    for (let lower = toTimeKey(MIN_TIME); compareBytes(lower, key) < 0; ) {
      const range = IDBKeyRange.bound(lower, key, removed > 0, true)
      const chunks = await resultOf<Chunk[]>(store.getAll(range, LARGEST_READ))
      for (const chunk of chunks) {
        const rest = fromChunk(chunk).filter((message) => compareBytes(toKey(message), key) >= 0)
        kept.push(...rest)
        removed += chunk.hashes.length - rest.length
      }
      lower = chunks.at(-1)?.start ?? key
    }
    if (count - removed < minCount) {
      return undefined
    }
    store.delete(IDBKeyRange.upperBound(key, true))
    for (const chunk of toChunks(kept)) {
      store.add(chunk)
    }
    return removed
  })
}
