import { InvalidArgumentError } from '../errors.ts'
import { copyBytes } from '../lib/bytes.ts'
import { assertObject, assertPositive, assertText } from '../lib/checks.ts'
import { fromMilliseconds, toNanoseconds } from '../lib/time.ts'
import { assertMessage, type WakuMessage } from '../message/message.ts'
import { parseContentTopic } from '../message/topics.ts'
import { type OutgoingMessage, type PushOptions, type PushSettings } from './options.ts'

/**
 * A copy of the message, after all checks that need no network.
 *
 * @throws {@link InvalidArgumentError}, {@link MessageTooLargeError}
 */
export function toDraft(
  message: OutgoingMessage,
  options: PushOptions,
  settings: PushSettings
): WakuMessage {
  assertObject('message', message)
  const { payload, contentTopic, timestamp, meta, version, ephemeral } = message
  const draft = {
    payload: copyBytes(payload),
    contentTopic,
    version,
    timestamp: timestamp === undefined ? undefined : toNanoseconds(timestamp, 'message.timestamp'),
    meta: meta === undefined ? undefined : copyBytes(meta),
    ephemeral
  }
  assertMessage(
    { ...draft, timestamp: draft.timestamp ?? fromMilliseconds(settings.now()) },
    settings.maxMessageBytes
  )
  if (draft.timestamp === 0n) {
    // Nodes read it as no timestamp, and set one of their own: the hash would be another.
    throw new InvalidArgumentError('message.timestamp', 'must not be 0; leave it out for now')
  }
  const { pubsubTopic, proof, maxAttempts = 1, redundancy = 1, confirm = 'published' } = options
  if (pubsubTopic === undefined) {
    parseContentTopic(contentTopic, 'message.contentTopic')
  } else {
    assertText('pubsubTopic', pubsubTopic)
  }
  if (proof !== undefined && typeof proof !== 'function') {
    throw new InvalidArgumentError('proof', 'must be a function')
  }
  assertPositive({ maxAttempts, redundancy }, ['maxAttempts', 'redundancy'])
  const canConfirm = confirm === 'stored' && settings.store !== undefined && ephemeral !== true
  if (confirm !== 'published' && !canConfirm) {
    throw new InvalidArgumentError('confirm', "'stored' needs a store, and a message that is kept")
  }
  return draft
}
