import type { OutgoingMessage, PushOptions } from '../light-push/light-push-client.ts'
import type { PushStatus, PushVerdict } from '../light-push/outcome.ts'
import type { LookupOptions } from '../store/options.ts'

/** What an outbox needs of a light push client. {@link LightPushClient} is one. */
export interface OutboxLightPush {
  /**
   * Publishes a message. It awaits `proof` after the message is sealed and before the first byte leaves, and sends nothing if
   * that rejects; empty bytes mean no proof. It rejects only if nothing left.
   */
  push(
    message: OutgoingMessage,
    options: Pick<PushOptions, 'pubsubTopic' | 'proof' | 'signal' | 'timeoutMs'>
  ): Promise<{
    readonly status: PushStatus
    readonly attempts: readonly Pick<
      PushVerdict,
      'status' | 'reason' | 'statusCode' | 'statusDesc'
    >[]
    readonly error?: unknown
  }>
}

/** What an outbox needs of a store client. {@link StoreClient} is one. */
export interface OutboxStore {
  /** Whether a store node has these messages. It rejects if none answers. */
  has(
    hashes: readonly Uint8Array[],
    options: Pick<LookupOptions, 'within' | 'signal' | 'timeoutMs'>
  ): Promise<boolean[]>
}

/** What tells an outbox that a node can be used. A light node is one. */
export interface OutboxNode {
  /** Tells each change; returns a function that ends this. */
  onStateChange(listener: (state: { readonly status: string }) => void): () => void
}

/** What an outbox is built over. */
export interface OutboxComponents {
  readonly lightPush: OutboxLightPush
  /** Left out: what is unknown cannot be looked up, and neither `confirm: 'stored'` nor `restamp` can be had. */
  readonly store?: OutboxStore
  /** Given, retries begin at once when it is `ready`. */
  readonly node?: OutboxNode
}
