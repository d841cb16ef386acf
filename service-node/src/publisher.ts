import { toHex, type WakuMessage } from 'waku-light/message'
import {
  type ArchivedMessage,
  isArchivable,
  toArchivedMessage
} from './archive/archived-message.ts'
import type { Clock } from './clock.ts'
import type { Relay } from './relay.ts'

/** What became of a push. */
export type PublishOutcome =
  /** The count is absent where it is not known: a duplicate that came by relay, or standalone. */
  | { readonly status: 'published'; readonly relayPeerCount?: number }
  | { readonly status: 'not-relayed' }

/** What a publisher works with. */
export interface PublisherComponents {
  readonly archive: { insert(message: ArchivedMessage): Promise<unknown> }
  readonly relay: Pick<Relay, 'publish'>
  readonly now: Clock
}

// Longer than gossipsub remembers: its two minutes pass while a client still retries.
const MAX_REMEMBERED = 65_536

/** Takes messages in: commits to the archive, then relays, each message hash once. */
export class Publisher {
  readonly #components: PublisherComponents
  readonly #isStandalone: boolean
  /** Hashes of what was relayed or came by relay, with the number of peers where it is known. Oldest first. */
  readonly #relayed = new Map<string, number | undefined>()
  readonly #underway = new Map<string, Promise<PublishOutcome>>()

  /** @param isStandalone - whether a message counts as published without a relay peer */
  constructor(components: PublisherComponents, isStandalone: boolean) {
    this.#components = components
    this.#isStandalone = isStandalone
  }

  /**
   * Publishes a pushed message.
   *
   * @param encoded - `message` as it came; relayed and archived verbatim
   * @throws {@link ServiceNodeError} if the archive failed: nothing was relayed then
   */
  async publish(
    pubsubTopic: string,
    message: WakuMessage,
    encoded: Uint8Array
  ): Promise<PublishOutcome> {
    const row = this.#toRow(pubsubTopic, message, encoded)
    // Also for a hash that was relayed before: `ephemeral` is not part of it, nor is the node's clock.
    await this.#archive(row, message)
    const key = toHex(row.hash)
    if (this.#relayed.has(key)) {
      return { status: 'published', relayPeerCount: this.#relayed.get(key) }
    }
    let outcome = this.#underway.get(key)
    if (outcome === undefined) {
      outcome = this.#relay(pubsubTopic, encoded, key).finally(() => this.#underway.delete(key))
      this.#underway.set(key, outcome)
    }
    return outcome
  }

  /**
   * Takes in a message that came by relay.
   *
   * @throws {@link ServiceNodeError} if the archive failed
   */
  async receive(pubsubTopic: string, message: WakuMessage, encoded: Uint8Array): Promise<void> {
    const row = this.#toRow(pubsubTopic, message, encoded)
    await this.#archive(row, message)
    this.#remember(toHex(row.hash), undefined)
  }

  #toRow(pubsubTopic: string, message: WakuMessage, encoded: Uint8Array): ArchivedMessage {
    return toArchivedMessage(pubsubTopic, message, encoded, this.#components.now())
  }

  async #archive(row: ArchivedMessage, message: WakuMessage): Promise<void> {
    if (isArchivable(message, this.#components.now())) {
      await this.#components.archive.insert(row)
    }
  }

  async #relay(pubsubTopic: string, encoded: Uint8Array, key: string): Promise<PublishOutcome> {
    const result = await this.#components.relay.publish(pubsubTopic, encoded)
    if (result.status === 'no-peers') {
      return { status: this.#isStandalone ? 'published' : 'not-relayed' }
    }
    const relayPeerCount = result.status === 'relayed' ? result.relayPeerCount : undefined
    this.#remember(key, relayPeerCount)
    return { status: 'published', relayPeerCount }
  }

  #remember(key: string, relayPeerCount: number | undefined): void {
    this.#relayed.set(key, this.#relayed.get(key) ?? relayPeerCount)
    for (const oldest of this.#relayed.keys()) {
      if (this.#relayed.size <= MAX_REMEMBERED) {
        break
      }
      this.#relayed.delete(oldest)
    }
  }
}
