import { compareBytes } from '../lib/bytes.ts'
import { CHUNK_SPAN, fromChunk, toChunks } from './chunk.ts'
import type { Database } from './database.ts'
import { MAX_TIME, MIN_TIME, timeOfKey, toKey, toTimeKey } from './keys.ts'
import type { toPruneLimits } from './limits.ts'
import { type Reader, walkChunks } from './reading.ts'
import { toSelection } from './selection.ts'
import { write } from './writing.ts'

/**
 * Removes old messages.
 *
 * @returns how many
 */
export async function prune(
  reader: Reader,
  { before, maxCount }: ReturnType<typeof toPruneLimits>
): Promise<number> {
  const count = await reader((database) => database.countFromIndex('chunks', 'hashes'))
  const oldest = count > maxCount ? await keyAt(reader, count - maxCount) : toTimeKey(MIN_TIME)
  const limit = toTimeKey(before ?? MIN_TIME)
  const key = compareBytes(oldest, limit) > 0 ? oldest : limit
  return await reader((database) => removeBefore(database, key))
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

async function removeBefore(database: Database, key: Uint8Array<ArrayBuffer>): Promise<number> {
  return await write(database, async (transaction) => {
    const store = transaction.objectStore('chunks')
    const index = store.index('hashes')
    const before = index.count()
    // Only chunks that begin shortly before it can reach beyond the place.
    const lower = toTimeKey(timeOfKey(key) - CHUNK_SPAN)
    const last =
      compareBytes(lower, key) < 0
        ? await store.getAll(IDBKeyRange.bound(lower, key, false, true))
        : []
    const kept = last.flatMap(fromChunk).filter((message) => compareBytes(toKey(message), key) >= 0)
    await store.delete(IDBKeyRange.upperBound(key, true))
    await Promise.all(toChunks(kept).map((chunk) => store.add(chunk)))
    return (await before) - (await index.count())
  })
}
