import type { GossipSub, GossipsubMessage, TopicValidatorFn } from '@libp2p/gossipsub'
import { TopicValidatorResult } from '@libp2p/gossipsub'
import { messageSizeBytes, type WakuMessage } from 'waku-light/message'
import { decodeWakuMessage } from 'waku-light/wire'

/** Protocol id of relay. */
export const RELAY_PROTOCOL = '/vac/waku/relay/2.0.0'

/** What became of a publication. */
export type RelayResult =
  | { readonly status: 'relayed'; readonly relayPeerCount: number }
  | { readonly status: 'duplicate' }
  | { readonly status: 'no-peers' }

/** A message that came in by relay. */
export type RelayListener = (pubsubTopic: string, message: WakuMessage, encoded: Uint8Array) => void

/** Waku relay on top of gossipsub, for a fixed set of pubsub topics. */
export class Relay {
  readonly #gossipsub: GossipSub
  readonly #pubsubTopics: ReadonlySet<string>
  readonly #maxMessageBytes: number

  constructor(gossipsub: GossipSub, pubsubTopics: readonly string[], maxMessageBytes: number) {
    this.#gossipsub = gossipsub
    this.#pubsubTopics = new Set(pubsubTopics)
    this.#maxMessageBytes = maxMessageBytes
  }

  /** Subscribes; every valid message of another peer goes to `listener` once. */
  start(listener: RelayListener): void {
    for (const pubsubTopic of this.#pubsubTopics) {
      // Set before subscribing: nothing is passed on unseen.
      this.#gossipsub.topicValidators.set(pubsubTopic, this.#validate)
      this.#gossipsub.subscribe(pubsubTopic)
    }
    this.#gossipsub.addEventListener(
      'gossipsub:message',
      ({ detail }: CustomEvent<GossipsubMessage>) => {
        const { topic, data } = detail.msg
        listener(topic, decodeWakuMessage(data), data)
      }
    )
  }

  /** True for the topics that this node relays. */
  serves(pubsubTopic: string): boolean {
    return this.#pubsubTopics.has(pubsubTopic)
  }

  /** How many peers relay a topic with this node. */
  peerCount(pubsubTopic: string): number {
    return this.#gossipsub.getSubscribers(pubsubTopic).length
  }

  /** Hands a message to the peers of its topic. */
  async publish(pubsubTopic: string, encoded: Uint8Array): Promise<RelayResult> {
    try {
      const { recipients } = await this.#gossipsub.publish(pubsubTopic, encoded)
      return recipients.length > 0
        ? { status: 'relayed', relayPeerCount: recipients.length }
        : { status: 'no-peers' }
    } catch (error) {
      const text = error instanceof Error ? error.message : ''
      if (text === 'PublishError.Duplicate') {
        return { status: 'duplicate' }
      }
      if (text === 'PublishError.NoPeersSubscribedToTopic') {
        return { status: 'no-peers' }
      }
      throw error
    }
  }

  readonly #validate: TopicValidatorFn = (_peerId, { data }) => {
    try {
      const isSmall = messageSizeBytes(decodeWakuMessage(data)) <= this.#maxMessageBytes
      return isSmall && data.length <= this.#maxMessageBytes
        ? TopicValidatorResult.Accept
        : TopicValidatorResult.Reject
    } catch {
      return TopicValidatorResult.Reject
    }
  }
}
