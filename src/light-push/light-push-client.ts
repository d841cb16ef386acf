import { assertMethod } from '../lib/checks.ts'
import type { ClientComponents } from '../transport/service-peers.ts'
import { toDraft } from './draft.ts'
import {
  type LightPushClientInit,
  type OutgoingMessage,
  type PushOptions,
  type PushSettings,
  toSettings
} from './options.ts'
import type { PushResult } from './outcome.ts'
import { PushRun } from './push-run.ts'
import { Rests } from './rests.ts'

export type { OutgoingMessage, PushOptions, RateLimitProver } from './options.ts'

/**
 * Publishes messages through service nodes.
 *
 * @see WAKU-LIGHTPUSH and 19/WAKU2-LIGHTPUSH
 *
 * @example
 * ```ts
 * const lightPush = new LightPushClient(node)
 * const { status, messageHash } = await lightPush.push({ contentTopic: '/chat/1/lobby/proto', payload })
 * ```
 */
export class LightPushClient {
  readonly #components: ClientComponents
  readonly #settings: PushSettings
  readonly #rests: Rests

  /**
   * Holds nothing and does nothing until it is called.
   *
   * @param components - a light node, or anything else that has service peers
   * @throws {@link InvalidArgumentError} for components without service peers, or a wrong option
   */
  constructor(components: ClientComponents, init: LightPushClientInit = {}) {
    assertMethod('components.servicePeers', components?.servicePeers, 'request')
    this.#components = components
    this.#settings = toSettings(init)
    this.#rests = new Rests(this.#settings)
  }

  /**
   * Publishes a message through the first service node that takes it. Where one does not, others are tried, then, after
   * pauses, those that may take it now. All tries carry identical bytes, so they are one message to the network, and a node
   * that may have it is asked once more at the most, and only if nothing else is left.
   *
   * @returns what became of it, with every try. An expired deadline, an unreachable or a lying node are outcomes, not
   * exceptions; so is an abort once something was written.
   * @throws {@link InvalidArgumentError}, {@link MessageTooLargeError} before any I/O
   * @throws {@link ClosedError} if the node is closed, and the signal's own reason if it is aborted, before the first write
   */
  async push(message: OutgoingMessage, options: PushOptions = {}): Promise<PushResult> {
    const settings = this.#settings
    const draft = toDraft(message, options, settings)
    const { servicePeers } = this.#components
    return await new PushRun({ servicePeers, settings, rests: this.#rests, options }).run(draft)
  }
}
