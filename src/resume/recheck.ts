import { hasErrorCode, ProtocolViolationError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import type { StoredMessage } from '../store/page.ts'
import type { ResumeStore } from './components.ts'
import type { Job } from './job.ts'
import { Nodes } from './nodes.ts'
import type { HistoryGap } from './result.ts'
import { causeOf, toReason, walk } from './walking.ts'

/** Hashes that are looked up at once; as many as go in one request. */
const BATCH = 99

/** Hashes that a node may name and then not give the message of; more than that it makes up. */
const MAX_NOT_GIVEN = 1_000

/**
 * Asks again for what was asked for before, by hash only, and fetches what is new: nodes get from each other what they lack.
 * Where several nodes were walked through, each of them is asked.
 *
 * A node that must not learn the topics is asked for everything, since hashes say nothing about topics, and those that are
 * not looked up would say which are ours.
 *
 * @throws as {@link walk}
 */
export async function recheck(job: Job, stretch: HistoryGap): Promise<void> {
  const { store, node } = job.components
  if (store.queryHashes === undefined || job.settings.timeRange) {
    await walk(job, { ...stretch, stage: 'recheck' })
    return
  }
  const nodes = new Nodes(node, job.settings.random)
  let isDone = false
  for (const { peerId, state } of job.sources) {
    if (state === 'complete') {
      isDone = (await recheckAt(job, stretch, peerId, nodes)) || isDone
    }
  }
  while (!isDone) {
    isDone = await recheckAt(job, stretch, nodes.next(), nodes)
  }
}

/** False if the node failed. */
async function recheckAt(
  job: Job,
  stretch: HistoryGap,
  peerId: string,
  nodes: Nodes
): Promise<boolean> {
  let notGiven = 0
  try {
    for await (const hashes of listHashes(job, stretch, peerId)) {
      notGiven += await fetchNew(job, hashes, stretch, peerId)
      if (notGiven > MAX_NOT_GIVEN) {
        throw violation('a node names hashes of messages that it does not give', peerId)
      }
    }
    return true
  } catch (error) {
    job.signal.throwIfAborted()
    if (isUnsupported(error)) {
      await walk(job, { ...stretch, stage: 'recheck' })
      return true
    }
    job.leave(nodes, peerId, toReason(error))
    return false
  }
}

function violation(message: string, peerId: string): ProtocolViolationError {
  return new ProtocolViolationError('no-progress', message, peerId)
}

async function* listHashes(
  job: Job,
  { from, to }: HistoryGap,
  peerId: string
): AsyncGenerator<Uint8Array[], void> {
  const store = job.components.store as Required<ResumeStore>
  const seen = new Set<string>()
  let batch: Uint8Array[] = []
  const hashes = store.queryHashes(job.criteria(from, to), job.askOf(peerId))
  for await (const { messageHash } of hashes) {
    const key = toHex(messageHash)
    if (seen.has(key)) {
      throw violation('a node names the same hashes again', peerId)
    }
    seen.add(key) // no more than are in the archive, and that many which are not given
    batch.push(messageHash)
    if (batch.length === BATCH) {
      yield batch
      batch = []
    }
  }
  yield batch
}

/**
 * Fetches what the archive does not have, from the node that named it.
 *
 * @returns how many it did not give
 */
async function fetchNew(
  job: Job,
  hashes: readonly Uint8Array[],
  { from, to }: HistoryGap,
  peerId: string
): Promise<number> {
  const { archive, store } = job.components
  const known = await archive.has(hashes, { signal: job.signal })
  const wanted = new Map(
    hashes.filter((_, index) => known[index] !== true).map((hash) => [toHex(hash), hash])
  )
  if (wanted.size === 0) {
    return 0
  }
  const messages: StoredMessage[] = []
  let others = 0
  for await (const message of store.lookup([...wanted.values()], job.askOf(peerId))) {
    const { messageHash, timestamp = 0n } = message
    // What it named may be anything. Reference nodes name what is of the very end, too.
    if (timestamp >= from && timestamp <= to && wanted.has(toHex(messageHash))) {
      messages.push(message)
    } else {
      others++
    }
  }
  const missing = wanted.size - job.filter(messages).length
  job.counts.missing += missing
  job.counts.fetched += others
  await job.put(messages, 'recheck', peerId)
  return missing
}

/** True if a node that was reached does not do this. */
function isUnsupported(error: unknown): boolean {
  const reason = causeOf(error)
  return hasErrorCode(reason, 'ERR_NO_USABLE_PEER')
    ? reason.failures.some((failure) => isUnsupported(failure.error))
    : hasErrorCode(reason, 'ERR_UNSUPPORTED')
}
