import { NANOSECONDS_PER_MS } from '../lib/time.ts'
import type { OutboxStore } from './components.ts'
import { isFinished, type OutboxEntry, type OutboxReason } from './entry.ts'
import { commit, finish } from './ledger.ts'
import { ABSENCE_COUNT, ABSENCE_PAUSE_MS, FRESH_MS, PRESENCE_PAUSE_MS, type Wait } from './pace.ts'
import { send } from './sender.ts'
import type { OutboxSession } from './session.ts'

/** For one look-up, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 15_000

/** What a store node may be off by that looks messages up by their time, in nanoseconds. */
const TIME_SLACK = 30_000n * NANOSECONDS_PER_MS

/** What one delivery remembers between its steps. */
interface Progress {
  /** In a row, of whatever kind: they make the pauses longer. */
  failures: number
  /** How often a store node said no when it should have said yes. */
  absences: number
}

/**
 * Brings an entry to its end, step by step; what has to survive is in the entry, not here.
 *
 * @param goOn - called as soon as this entry will not be sent again, so that the next one of its topic may be
 * @throws the signal's reason
 */
export async function deliver(session: OutboxSession, id: string, goOn: () => void): Promise<void> {
  const { settings, view, turnstile, pauses, signal } = session
  const progress: Progress = { failures: 0, absences: 0 }
  for (;;) {
    signal.throwIfAborted()
    const entry = view.get(id)
    if (entry === undefined || isFinished(entry)) {
      return
    }
    if (isOver(entry, settings.now())) {
      goOn()
    }
    const { waking } = pauses
    const backoff = (): Wait => ({ ms: pauses.backoffMs(progress.failures++), waking })
    let wait: Wait | undefined
    try {
      wait = await turnstile.run(() => step(session, entry, progress, backoff), signal)
    } catch {
      signal.throwIfAborted()
      wait = backoff() // the storage; each step begins from what is written down
    }
    if (wait !== undefined && (await pauses.wait(wait.ms, wait.waking, signal))) {
      progress.failures = 0
    }
  }
}

/** Does one step, and tells how long to wait for the next one, if at all. */
async function step(
  session: OutboxSession,
  entry: OutboxEntry,
  progress: Progress,
  backoff: () => Wait
): Promise<Wait | undefined> {
  const { settings, components } = session
  const isTooOld = settings.now() - entry.enqueuedAtMs > settings.maxAgeMs
  const store = entry.ephemeral ? undefined : components.store
  const expire = (reason: OutboxReason): Promise<undefined> =>
    finish(session, entry, { state: 'expired', reason })
  if (store !== undefined && entry.sent.length > 0) {
    const isPresent = await askFor(entry, store, session.signal).catch(() => undefined)
    if (isPresent === undefined) {
      return isTooOld ? await expire('too-old') : backoff()
    }
    if (isPresent) {
      return await finish(session, entry, { state: 'stored' })
    }
  }
  if (entry.state === 'queued' && isTooOld) {
    return await expire('too-old')
  }
  if (entry.state === 'queued' || isFresh(entry, settings.now())) {
    return entry.state === 'published'
      ? { ms: PRESENCE_PAUSE_MS }
      : await send(session, entry, backoff)
  }
  if (store === undefined) {
    return await expire('unconfirmed')
  }
  progress.absences++
  if (progress.absences < ABSENCE_COUNT) {
    return { ms: ABSENCE_PAUSE_MS }
  }
  if (!entry.restamp || isTooOld) {
    return await expire('absent')
  }
  progress.absences = 0
  await commit(session, entry, { state: 'queued', reason: 'absent' })
  return undefined
}

/** True once the message will not be sent again, under whatever hash. */
function isOver(entry: OutboxEntry, nowMs: number): boolean {
  const { state, restamp } = entry
  return state !== 'queued' && !restamp && (state === 'published' || !isFresh(entry, nowMs))
}

function isFresh({ sent }: OutboxEntry, nowMs: number): boolean {
  const timestamp = sent.at(-1)?.timestamp ?? 0n
  return Math.abs(nowMs - Number(timestamp / NANOSECONDS_PER_MS)) < FRESH_MS
}

async function askFor(
  { sent, contentTopic }: OutboxEntry,
  store: OutboxStore,
  signal: AbortSignal
): Promise<boolean> {
  const times = sent.map(({ timestamp }) => timestamp).sort((a, b) => (a < b ? -1 : 1))
  const [first = 0n] = times
  const within = {
    contentTopics: [contentTopic],
    pubsubTopic: sent.at(-1)?.pubsubTopic,
    timeStart: first - TIME_SLACK,
    timeEnd: (times.at(-1) ?? first) + TIME_SLACK
  }
  const hashes = sent.map(({ messageHash }) => messageHash)
  const answers = await store.has(hashes, { within, signal, timeoutMs: LOOKUP_TIMEOUT_MS })
  return answers.includes(true)
}
