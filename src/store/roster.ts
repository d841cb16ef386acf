import {
  hasErrorCode,
  IncompleteHistoryError,
  InvalidArgumentError,
  isWakuLightError,
  NoUsablePeerError,
  UnsupportedError
} from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { assertInteger, assertPositive } from '../lib/checks.ts'
import { noteFault } from './failures.ts'
import { protocolsOf } from './generation.ts'
import type { MessagePage, Row, StoredMessage } from './page.ts'
import { encodePosition, type WalkPosition } from './position.ts'
import type { WalkInit } from './walker.ts'

/** Defaults of {@link sources} and {@link fillGaps}; times in milliseconds. */
export const SOURCES_DEFAULTS = {
  patienceMs: 5_000
} as const

/** Largest number of nodes that are asked side by side. */
const MAX_SOURCES = 64

/** Options of {@link sources} and {@link fillGaps}. */
export interface SourcesOptions {
  /**
   * How long the others wait for one node, in milliseconds; then it is dropped, or replaced by one that has not been asked
   * yet, which gets as long.
   *
   * @default 5000
   */
  readonly patienceMs?: number
}

/** What became of one node. */
export interface SourceState {
  readonly peerId: string
  /** `complete`: it said that it has given all; `dropped`: it failed, and what follows is without it. */
  readonly state: 'reading' | 'complete' | 'dropped'
  /** How many of the messages that were delivered it did not have. */
  readonly lackedCount: number
  /** Asked for what comes after a message of this time only; undefined: from the beginning of the call. */
  readonly since?: bigint
  /** Why and where it was dropped: after a message of this time, or at the beginning of the call. */
  readonly failure?: { readonly error: Error; readonly after?: bigint }
}

/** Messages that a node did not have, though another one did. */
export interface SourceLack {
  readonly peerId: string
  /** In the order of {@link MessagePage.messages}, and among them. */
  readonly messages: readonly StoredMessage[]
}

/** A page of the history of several nodes. */
export interface SourcesPage extends MessagePage {
  /** Which node lacked what of this page. */
  readonly lacks: readonly SourceLack[]
  /** All nodes asked so far, dropped ones too. `completeness` is what those say that were not dropped. */
  readonly sources: readonly SourceState[]
}

/** A node among several. */
export interface Source {
  readonly peerId: string
  /** Where it was when it was first asked. */
  readonly since: bigint | undefined
  /** True: it said that it has given all. */
  readonly isDone: boolean
  lackedCount: number
  failure?: { readonly error: Error; readonly after?: bigint }
  close?(): Promise<void>
}

/** Which nodes are asked, which failed, and who takes their place. */
export class Roster<T extends Source> {
  readonly #init: WalkInit
  readonly #wanted: number
  readonly #create: (peerId: string) => T
  readonly #all = new Map<string, T>()

  constructor(init: WalkInit, wanted: number, create: (peerId: string) => T) {
    this.#init = init
    this.#wanted = wanted
    this.#create = create
  }

  /** Those that were not dropped. */
  get live(): readonly T[] {
    return [...this.#all.values()].filter(({ failure }) => failure === undefined)
  }

  /** Takes in nodes that were not asked yet, as many as are missing. */
  complete(): void {
    const { servicePeers, generations } = this.#init
    for (const { peerId } of servicePeers.candidates(protocolsOf(generations))) {
      if (this.live.length >= this.#wanted) {
        return
      }
      if (!this.#all.has(peerId)) {
        this.#all.set(peerId, this.#create(peerId))
      }
    }
  }

  /** Takes note of a node that is in use already. */
  add(source: T): void {
    this.#all.set(source.peerId, source)
  }

  /** A node that was asked, be it that it was dropped. */
  get(peerId: string): T | undefined {
    return this.#all.get(peerId)
  }

  /**
   * Goes on without a node that failed.
   *
   * @throws what is not the fault of a node
   */
  async drop(source: T, error: Error, position: WalkPosition): Promise<void> {
    if (hasErrorCode(error, 'ERR_INVALID_ARGUMENT')) {
      throw error
    }
    if (!isWakuLightError(error) || error.code === 'ERR_CLOSED') {
      throw new IncompleteHistoryError(encodePosition(position), error)
    }
    noteFault(this.#init.servicePeers, source, this.#init.generations, error)
    source.failure ??= { error, after: position.last?.time }
    await source.close?.()
  }

  /** What to throw where none is left. */
  toError(): Error {
    const failures = [...this.#all.values()].flatMap(({ peerId, failure }) =>
      failure === undefined ? [] : [{ peerId, error: failure.error }]
    )
    return new NoUsablePeerError(failures)
  }

  /** What became of each. */
  get states(): SourceState[] {
    return [...this.#all.values()].map(({ peerId, isDone, lackedCount, since, failure }) => ({
      peerId,
      state: failure !== undefined ? 'dropped' : isDone ? 'complete' : 'reading',
      lackedCount,
      since,
      failure
    }))
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#all.values()].map(async (source) => await source.close?.()))
  }
}

/** Who lacked which rows. */
export class Lacks {
  readonly #bySource = new Map<Source, Row[]>()

  /** Takes note of it. */
  add(source: Source, row: Row): void {
    source.lackedCount++
    const rows = this.#bySource.get(source)
    if (rows === undefined) {
      this.#bySource.set(source, [row])
    } else {
      rows.push(row)
    }
  }

  /** In the order of a page. */
  toList(forward: boolean): SourceLack[] {
    return [...this.#bySource].map(([{ peerId }, rows]) => {
      const messages = rows.map(({ message }) => message)
      return { peerId, messages: forward ? messages : messages.reverse() }
    })
  }
}

/** Checks what {@link sources} and {@link fillGaps} are called with; returns how many nodes are wanted. */
export function toWanted(count: number | 'all', patienceMs: number): number {
  if (count !== 'all') {
    assertInteger('count', count, 1, MAX_SOURCES)
  }
  assertPositive({ patienceMs }, ['patienceMs'])
  return count === 'all' ? MAX_SOURCES : count
}

/**
 * The walk with only those generations in which each message has a place that is known here, so that nodes can be compared.
 *
 * @throws {@link InvalidArgumentError} or {@link UnsupportedError} where several nodes make no sense
 */
export function toComparable(init: WalkInit): WalkInit {
  if (init.peerId !== undefined) {
    throw new InvalidArgumentError('peerId', 'has no meaning with several nodes')
  }
  const generations = init.generations.filter(({ strictOrder }) => strictOrder)
  if (generations.length === 0) {
    throw new UnsupportedError('no generation in use has an order by which nodes can be compared')
  }
  // Cursors are of no use among several nodes: each goes on by time.
  const { digest, last } = init.position
  return { ...init, generations, position: { digest, last } }
}

/** The rows of a page, in the order of walking. */
export function toRows({ messages, protocol }: MessagePage, init: WalkInit): Row[] {
  const generation = init.generations.find((known) => known.protocol === protocol)
  const rows = messages.map((message) => ({
    message,
    time: 0n,
    tie: message.messageHash,
    ...generation?.orderKey(message, message.messageHash)
  }))
  return init.forward ? rows : rows.reverse()
}

/** The reason why a walk at one node did not go on. */
export function causeOf(error: unknown): Error {
  const cause = hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? error.cause : error
  const last = hasErrorCode(cause, 'ERR_NO_USABLE_PEER') ? cause.failures.at(-1)?.error : undefined
  return last ?? (cause instanceof Error ? cause : new Error(String(cause)))
}

/** A message hash as a key. */
export function keyOf({ message }: Row): string {
  return toHex(message.messageHash)
}
