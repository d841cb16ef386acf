import type { PushStatus } from 'waku-light/light-push'
import type { OutboxState } from 'waku-light/outbox'

/** Message hashes, in hexadecimal. */
export type Hashes = ReadonlySet<string>

/** What each archive holds, by peer id of its node. */
export type Archives = ReadonlyMap<string, Hashes>

/** A message that somebody set out to publish, whatever became of it. */
export interface KnownMessage {
  /** Who made it: one name, one message. */
  readonly name: string
  readonly contentTopic: string
  /** In nanoseconds. */
  readonly timestamp: bigint
  /** Hexadecimal: what messages of one time are ordered by in the older store generation. */
  readonly digest: string
  readonly isEphemeral: boolean
}

/** What a push came to; `thrown` if it rejected, as it does only where nothing was sent. */
export interface PushRecord {
  readonly name: string
  /** Undefined if it did not come to that. */
  readonly hash?: string
  readonly status: PushStatus | 'thrown'
  readonly relayPeerCount?: number
  readonly stored?: boolean | 'unknown'
  /** The only node that was asked whether it is stored. */
  readonly storedAt?: string
}

/** How a walk ended. `threw`: with a position from which nobody went on. */
export type WalkEnd = 'complete' | 'unverifiable' | 'threw' | 'left' | 'aborted'

/** A walk with all that it took to go on after it threw. */
export interface WalkRecord {
  readonly name: string
  readonly contentTopics?: readonly string[]
  readonly timeStart?: bigint
  readonly timeEnd?: bigint
  readonly isForward: boolean
  /** By time, and by what else where times are the same. Undefined: what is late comes late. */
  readonly order?: 'hash' | 'digest' | 'time'
  /** In the order in which they came. */
  readonly delivered: readonly string[]
  readonly end: WalkEnd
  /** What the archives held before it began. */
  readonly held: Archives
  /** Nodes that themselves gave all of it, where that is known. */
  readonly givenBy: readonly string[]
  /** Only so many are asked for. */
  readonly count?: number
  /** How often it threw and was gone on with. */
  readonly resumed: number
}

/** A look-up by hash: what was found, of what was asked for. */
export interface LookupRecord {
  readonly name: string
  /** The only node asked; undefined: any. */
  readonly peerId?: string
  readonly asked: readonly string[]
  readonly found: readonly string[]
  readonly held: Archives
}

/** Where an entry of an outbox has come to. */
export interface EntryRecord {
  readonly name: string
  readonly state: OutboxState
  readonly isRestamped: boolean
  /** Every hash under which it may have been sent, at whatever time. */
  readonly hashes: readonly string[]
  /** Those that the entry lists at the end. */
  readonly sent: readonly string[]
}

/** How often what happened. */
export class Counts {
  readonly #counts = new Map<string, number>()

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count)
  }

  addAll(other: Counts): void {
    for (const [name, count] of other.#counts) {
      this.add(name, count)
    }
  }

  /** All of them whose name begins so. */
  list(prefix: string): [string, number][] {
    return [...this.#counts].filter(([name]) => name.startsWith(prefix))
  }
}

/** All that was told during a run, to be compared with what the archives hold at its end. */
export class Ledger {
  /** By hash. */
  readonly messages = new Map<string, KnownMessage>()
  readonly pushes: PushRecord[] = []
  readonly walks: WalkRecord[] = []
  readonly lookups: LookupRecord[] = []
  readonly entries: EntryRecord[] = []
  /** What is wrong whatever the archives hold: a call that hangs, an error that is none of ours, a socket left open. */
  readonly troubles: string[] = []
  /** What else happened, for the summary. */
  readonly counts = new Counts()
  /** True if a node was stopped and started again: what was relayed meanwhile passed it by. */
  hasRestarts = false
}
