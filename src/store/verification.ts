import { InvalidMessageError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import type { WakuMessage } from '../message/message.ts'
import { messageHash as computeHash } from '../message/message-hash.ts'
import { type NetworkConfig, toPubsubTopic } from '../message/topics.ts'
import { decodeWakuMessage } from '../wire/message.ts'
import type { PageQuery, RawEntry } from './generation.ts'
import { isSame } from './legacy.ts'
import type { RejectedEntry, RejectionReason, Row, StoredMessage } from './page.ts'
import type { StoreSession } from './session.ts'

/** How {@link verify} tells what was asked for. */
export interface Expectation {
  readonly query: Omit<PageQuery, 'limit' | 'messageHashes'>
  readonly timeStart?: bigint
  readonly timeEnd?: bigint
  /** Where the pubsub topic is derived from, for generations that do not send it. */
  readonly network?: NetworkConfig
}

/**
 * The rows that entries are, and why others are none; left out is what a node may send though it was not asked for. Where
 * hashes only were asked for, they are taken on the node's word.
 *
 * @throws as {@link statedHash}, where hashes only were asked for
 */
export function verify(
  session: StoreSession,
  expected: Expectation,
  entries: readonly RawEntry[]
): { readonly rows: Row[]; readonly rejected: RejectedEntry[] } {
  const rows: Row[] = []
  const rejected: RejectedEntry[] = []
  for (const entry of entries) {
    const result = judge(session, expected, entry)
    if (result !== undefined && 'reason' in result) {
      rejected.push(result)
    } else if (result !== undefined) {
      rows.push(result)
    }
  }
  return { rows, rejected }
}

function judge(
  session: StoreSession,
  expected: Expectation,
  entry: RawEntry
): Row | RejectedEntry | undefined {
  if (!expected.query.includeData) {
    const messageHash = statedHash(entry)
    return { message: { messageHash } as StoredMessage, time: 0n, tie: messageHash }
  }
  if (entry.message === undefined) {
    return reject(entry, 'undecodable', entry.error?.message ?? 'the entry has no message')
  }
  let message: WakuMessage
  try {
    message = decodeWakuMessage(entry.message)
  } catch (error) {
    if (error instanceof InvalidMessageError) {
      return reject(entry, 'undecodable', error.message)
    }
    throw error
  }
  const { generation } = session
  const { contentTopics, pubsubTopic: asked } = expected.query
  const pubsubTopic = entry.pubsubTopic ?? asked ?? derive(message.contentTopic, expected.network)
  if (pubsubTopic === undefined) {
    return reject(entry, 'undecodable', 'its pubsub topic is not known')
  }
  const messageHash = computeHash(pubsubTopic, message)
  if (entry.messageHash !== undefined && !isSame(messageHash, entry.messageHash)) {
    return reject(entry, 'hash-mismatch', `its content has the hash ${toHex(messageHash)}`)
  }
  if (asked !== undefined && pubsubTopic !== asked) {
    return reject(entry, 'foreign', 'it is of another pubsub topic')
  }
  if (contentTopics.length > 0 && !contentTopics.includes(message.contentTopic)) {
    return reject(entry, 'foreign', 'it is of another content topic')
  }
  const { time, tie } = generation.orderKey(message, messageHash)
  // In the older generations a message without a time stands at that of its arrival, which is not sent.
  if (time !== 0n || generation.strictOrder) {
    const { timeStart = time, timeEnd = time + 1n } = expected
    if (time < timeStart || time >= timeEnd) {
      return generation.filtersByTime && time !== timeEnd
        ? reject(entry, 'foreign', 'it is of another time')
        : undefined
    }
  }
  return { message: { ...message, messageHash, pubsubTopic }, time, tie }
}

function derive(contentTopic: string, network: NetworkConfig | undefined): string | undefined {
  try {
    return network && toPubsubTopic(contentTopic, network)
  } catch {
    return undefined
  }
}

/**
 * The hash that an entry names.
 *
 * @throws why it cannot be read; without it nobody knows what is missing
 */
export function statedHash({ messageHash, error }: RawEntry): Uint8Array<ArrayBuffer> {
  if (messageHash === undefined) {
    throw error ?? new InvalidMessageError('the entry has no hash')
  }
  return messageHash
}

function reject({ messageHash }: RawEntry, reason: RejectionReason, detail: string): RejectedEntry {
  return { reason, messageHash, detail }
}
