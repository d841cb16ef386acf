// Sessions in memory: between two engines, or an engine and the model of the reference node.
import { SyncIndex, SyncSession, type SyncSessionInit } from '../../src/sync/index.ts'
import type { SyncId } from '../../src/wire/sync-payload.ts'
import { ReferenceNode } from './reference.ts'
import { type Entry, PUBSUB_TOPIC } from './twin.ts'

/** A side of a session. */
export interface Side {
  open(): Uint8Array
  process(payload: Uint8Array): {
    readonly reply?: Uint8Array
    readonly toSend: readonly SyncId[]
    readonly toFetch?: readonly SyncId[]
    readonly end: boolean
  }
}

export interface Learnt {
  readonly toSend: SyncId[]
  readonly toFetch: SyncId[]
  /** Lengths of the frames it wrote, prefixes included. */
  readonly frames: number[]
}

export interface PairResult {
  readonly initiator: Learnt
  readonly responder: Learnt
  /** All frames of both sides together. */
  readonly bytes: number
  /** How often the initiator waited for an answer. */
  readonly rounds: number
}

export function toIndex(entries: Iterable<Entry>): SyncIndex {
  const index = new SyncIndex()
  for (const entry of entries) {
    index.insert(entry, entry)
  }
  return index
}

type Own = Partial<SyncSessionInit> & Pick<SyncSessionInit, 'window'>

export function ours(entries: Iterable<Entry> | SyncIndex, init: Own): Side {
  const session = new SyncSession({
    index: entries instanceof SyncIndex ? entries : toIndex(entries),
    filter: { pubsubTopics: [PUBSUB_TOPIC], contentTopics: [] },
    ...init
  })
  return {
    open: () => session.open(),
    process: (payload) => {
      const step = session.process(payload)
      return { ...step, end: step.outcome !== undefined }
    }
  }
}

export function reference(entries: Iterable<Entry>, { window }: Own): Side {
  const node = new ReferenceNode(entries, [PUBSUB_TOPIC])
  return {
    open: () => node.open(window.timeStart, window.timeEnd),
    process: (payload) => node.process(payload)
  }
}

/** Lets two sides talk until one ends the session. */
export function reconcile(initiator: Side, responder: Side, maxPayloads = 100): PairResult {
  const first = { side: initiator, learnt: createLearnt() }
  const second = { side: responder, learnt: createLearnt() }
  let payload: Uint8Array | undefined = initiator.open()
  first.learnt.frames.push(frameLength(payload))
  for (let turn = 1; payload !== undefined; turn++) {
    if (turn > maxPayloads) {
      throw new Error('the session does not end')
    }
    const { side, learnt } = turn % 2 === 1 ? second : first
    const step = side.process(payload)
    learnt.toSend.push(...step.toSend)
    learnt.toFetch.push(...(step.toFetch ?? []))
    payload = step.reply
    if (payload !== undefined) {
      learnt.frames.push(frameLength(payload))
    }
    if (step.end && payload !== undefined) {
      // the other side has nothing to say to the last payload
      const last = (turn % 2 === 1 ? first : second).side.process(payload)
      if (!last.end || last.reply !== undefined) {
        throw new Error('an answer to the end of a session')
      }
      payload = undefined
    }
  }
  return {
    initiator: first.learnt,
    responder: second.learnt,
    bytes: [...first.learnt.frames, ...second.learnt.frames].reduce((sum, size) => sum + size, 0),
    rounds: second.learnt.frames.length
  }
}

function createLearnt(): Learnt {
  return { toSend: [], toFetch: [], frames: [] }
}

function frameLength(payload: Uint8Array): number {
  let prefix = 1
  for (let rest = payload.length; rest > 127; rest >>= 7) {
    prefix++
  }
  return prefix + payload.length
}
