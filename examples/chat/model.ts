// What there is: messages and what is known of them, the states of a room; and what travels.

/** What a message of this page carries, as JSON in UTF-8. */
export interface ChatContent {
  readonly nick: string
  readonly text: string
}

/** What is known of a message that was sent from here. */
export type Delivery =
  | { readonly state: 'sending' }
  | { readonly state: 'published'; readonly relayPeerCount?: number }
  | {
      readonly state: 'unknown'
      readonly reason: string
      /** True: the service node may have it, but passed it on to nobody. */
      readonly isStranded?: boolean
      readonly checking?: boolean
    }
  | { readonly state: 'failed'; readonly reason: string }

/** A message in the room. */
export interface Entry {
  readonly key: string
  readonly time: bigint
  /** Undefined: somebody else's format. */
  readonly content: ChatContent | undefined
  readonly sizeBytes: number
  readonly own: boolean
  /** Message hash; undefined as long as the network is not known. */
  hash?: string
  /** True once it was read from, or found in, a service node's archive. */
  stored: boolean
  /** Of messages that were sent in this session. */
  delivery?: Delivery
}

export type ConnectionState =
  | { readonly state: 'connecting' }
  | { readonly state: 'connected'; readonly nodeCount: number }
  | { readonly state: 'reconnecting'; readonly reason?: string; readonly retryAtMs?: number }
  /** Trying again by itself is of no use. */
  | { readonly state: 'stopped'; readonly reason: string }

/** A stretch of time, in nanoseconds. */
export interface Stretch {
  readonly from: bigint
  readonly to: bigint
}

/** What is known of the messages that others sent while this page was closed. */
export type CatchUpState =
  /** It has not begun, or another tab does it. */
  | { readonly state: 'waiting' }
  | { readonly state: 'running'; readonly since: bigint }
  /** What was further back than this page asks for at first. */
  | { readonly state: 'filling'; readonly gap: Stretch }
  | { readonly state: 'done'; readonly since: bigint; readonly count: number }
  /** Some of it is missing; with a gap, that. Nothing that came is lost. */
  | { readonly state: 'failed'; readonly reason: string; readonly gap?: Stretch }

export type HistoryState =
  | { readonly state: 'idle' | 'loading' | 'complete' }
  | { readonly state: 'failed'; readonly reason: string }

/** The content topic of a room. */
export function toContentTopic(room: string): string {
  return `/waku-light-chat/1/${encodeURIComponent(room)}/json`
}

export function encodeContent({ nick, text }: ChatContent): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify({ nick, text }))
}

/** Anybody may write anything into a content topic. */
export function decodeContent(payload: Uint8Array): ChatContent | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    const { nick, text } = value as Partial<Record<string, unknown>>
    return typeof nick === 'string' && typeof text === 'string' ? { nick, text } : undefined
  } catch {
    return undefined
  }
}
