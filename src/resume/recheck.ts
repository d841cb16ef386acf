import { hasErrorCode } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import type { ResumeStore } from './components.ts'
import { isWithin, type Job } from './job.ts'
import { Nodes } from './nodes.ts'
import type { HistoryGap } from './result.ts'
import { toReason, walk } from './walking.ts'

/** Hashes that are looked up at once; as many as go in one request. */
const BATCH = 99

/**
 * Asks again for what was asked for before, by hash only, and fetches what is new: nodes get from each other what they lack.
 *
 * A node that must not learn the topics is asked for everything, since hashes say nothing about topics, and those that are
 * not looked up would say which are ours.
 *
 * @throws as {@link walk}
 */
export async function recheck(job: Job, stretch: HistoryGap): Promise<void> {
  const { store, node } = job.components
  if (store.queryHashes === undefined || job.settings.timeRange) {
    await walkAgain(job, stretch)
    return
  }
  const nodes = new Nodes(node, job.settings.random)
  for (;;) {
    const peerId = nodes.next()
    const hashes = listHashes(job, store as Required<ResumeStore>, stretch, peerId)
    try {
      for (let next = await ask(hashes); next !== undefined; next = await ask(hashes)) {
        await fetchNew(job, next, stretch, peerId)
      }
      return
    } catch (error) {
      if (!(error instanceof NodeError)) {
        throw error
      }
      job.signal.throwIfAborted()
      if (isUnsupported(error.cause)) {
        await walkAgain(job, stretch)
        return
      }
      const reason = toReason(error.cause)
      nodes.leave(peerId, reason)
      job.tell({ type: 'resume:peer-failed', detail: { peerId, error: reason } })
    } finally {
      await hashes.return()
    }
  }
}

/** Marks what a node did, apart from what the archive did. */
class NodeError extends Error {}

async function walkAgain(job: Job, stretch: HistoryGap): Promise<void> {
  await walk(job, {
    ...stretch,
    onPage: async (messages, { peerId, messages: all }) =>
      await job.put(messages, { stage: 'recheck', peerId, fetched: all.length })
  })
}

async function* listHashes(
  job: Job,
  { queryHashes }: Required<ResumeStore>,
  { from, to }: HistoryGap,
  peerId: string
): AsyncGenerator<Uint8Array[], void> {
  const { store } = job.components
  const { signal, onStoreProgress: onProgress } = job
  let batch: Uint8Array[] = []
  const options = { peerId: peerId || undefined, signal, onProgress }
  for await (const { messageHash } of queryHashes.call(store, job.criteria(from, to), options)) {
    batch.push(messageHash)
    if (batch.length === BATCH) {
      yield batch
      batch = []
    }
  }
  yield batch
}

async function ask<T>(items: AsyncGenerator<T, void>): Promise<T | undefined> {
  try {
    const { value } = await items.next()
    return value ?? undefined
  } catch (cause) {
    throw new NodeError('', { cause })
  }
}

/** Fetches what the archive does not have, from the node that named it. */
async function fetchNew(
  job: Job,
  hashes: readonly Uint8Array[],
  stretch: HistoryGap,
  peerId: string
): Promise<void> {
  const { archive, store } = job.components
  const { signal, onStoreProgress: onProgress } = job
  const known = await archive.has(hashes, { signal })
  const wanted = new Map(
    hashes.filter((_, index) => known[index] !== true).map((hash) => [toHex(hash), hash])
  )
  if (wanted.size === 0) {
    return
  }
  const options = { peerId: peerId || undefined, signal, onProgress }
  const found = await takeAll(store.lookup([...wanted.values()], options))
  // What it named may be anything.
  const messages = job
    .filter(found)
    .filter((message) => isWithin(message, stretch) && wanted.has(toHex(message.messageHash)))
  job.count({ missing: wanted.size - messages.length })
  await job.put(messages, { stage: 'recheck', peerId, fetched: found.length })
}

async function takeAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  try {
    for await (const item of items) {
      all.push(item)
    }
  } catch (cause) {
    throw new NodeError('', { cause })
  }
  return all
}

/** True if a node that was reached does not do this. */
function isUnsupported(error: unknown): boolean {
  const reason = hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? error.cause : error
  return hasErrorCode(reason, 'ERR_NO_USABLE_PEER')
    ? reason.failures.some((failure) => isUnsupported(failure.error))
    : hasErrorCode(reason, 'ERR_UNSUPPORTED')
}
