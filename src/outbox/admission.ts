import { InvalidArgumentError, LimitExceededError } from '../errors.ts'
import { copyBytes, toHex } from '../lib/bytes.ts'
import { assertObject, assertText } from '../lib/checks.ts'
import { definedOnly } from '../lib/defined.ts'
import { createRequestId } from '../lib/random.ts'
import { fromMilliseconds } from '../lib/time.ts'
import { assertMessage, messageSizeBytes, type WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import { parseContentTopic } from '../message/topics.ts'
import type { OutboxComponents } from './components.ts'
import type { OutboxConfirmation, OutboxEntry, OutboxMessage } from './entry.ts'
import { assertConfirmation, NEEDS_STORE, type OutboxSettings } from './init.ts'
import type { EntryView } from './view.ts'

/** Options of {@link Outbox.enqueue}. */
export interface EnqueueOptions {
  /**
   * Names the entry: the same id again is the same entry, as long as the outbox remembers it. Left out: made up, so that each
   * call is an entry of its own.
   */
  readonly id?: string
  /** Left out: derived from the content topic when it is sent. */
  readonly pubsubTopic?: string
  /** @default that of the outbox */
  readonly confirm?: OutboxConfirmation
  /** @default that of the outbox */
  readonly restamp?: boolean
  /** Ends the wait: it rejects with the signal's own reason. The entry may be there nevertheless. */
  readonly signal?: AbortSignal
}

/** What {@link toDraft} makes: an entry without its place, and a content that nobody else can change. */
export interface Draft {
  readonly entry: Omit<OutboxEntry, 'seq'>
  readonly message: OutboxMessage
}

/**
 * Checks a message and its options.
 *
 * @throws {@link InvalidArgumentError}, {@link MessageTooLargeError}
 */
export function toDraft(
  given: OutboxMessage,
  options: EnqueueOptions,
  settings: OutboxSettings,
  components: OutboxComponents
): Draft {
  const { id = createRequestId(), pubsubTopic } = options
  const { confirm = settings.confirm, restamp = settings.restamp } = options
  assertText('id', id)
  const enqueuedAtMs = settings.now()
  const message = toMessage(given)
  const stamped = { ...message, timestamp: fromMilliseconds(enqueuedAtMs) }
  assertMessage(stamped, settings.maxMessageBytes)
  if (pubsubTopic === undefined) {
    parseContentTopic(message.contentTopic, 'message.contentTopic')
  } else {
    assertText('pubsubTopic', pubsubTopic)
  }
  assertConfirmation({ confirm, restamp }, components)
  const ephemeral = message.ephemeral === true
  if (ephemeral && options.confirm === 'stored') {
    throw new InvalidArgumentError('confirm', NEEDS_STORE)
  }
  const entry: Draft['entry'] = definedOnly({
    id,
    revision: 0,
    state: 'queued',
    contentTopic: message.contentTopic,
    pubsubTopic,
    ephemeral,
    confirm: ephemeral ? 'published' : confirm,
    restamp: restamp && !ephemeral,
    sizeBytes: messageSizeBytes(stamped),
    fingerprint: toHex(messageHash(pubsubTopic ?? '', message)),
    enqueuedAtMs,
    attempts: 0,
    sent: []
  })
  return { entry, message }
}

function toMessage(given: OutboxMessage): WakuMessage {
  assertObject('message', given)
  const { contentTopic, payload, meta, version, ephemeral } = given
  if ((given as { timestamp?: unknown }).timestamp !== undefined) {
    throw new InvalidArgumentError('message.timestamp', 'is set when it is sent; leave it out')
  }
  return definedOnly({
    contentTopic,
    payload: copyBytes(payload),
    meta: meta === undefined ? undefined : copyBytes(meta),
    version,
    ephemeral
  })
}

/**
 * Checks that there is room for an entry; what is on its way into the storage counts.
 *
 * @throws {@link LimitExceededError}
 */
export function assertRoom(
  view: EntryView,
  { maxEntries, maxBytes }: OutboxSettings,
  entry: Draft['entry']
): void {
  const pending = [...view.pending(), entry]
  if (pending.length > maxEntries) {
    throw new LimitExceededError(`the outbox holds ${maxEntries} entries`, maxEntries)
  }
  if (pending.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > maxBytes) {
    throw new LimitExceededError(`the outbox holds ${maxBytes} bytes`, maxBytes)
  }
}
