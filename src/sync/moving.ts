import { isWakuLightError, LimitExceededError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import type { StoredMessage } from '../store/page.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import {
  decodeTransfer,
  encodeTransfer,
  MAX_TRANSFER_BYTES,
  type TransferredMessage
} from '../wire/sync-transfer.ts'
import type { SyncArchive, SyncStore } from './components.ts'
import { Frames, type SyncStream } from './frames.ts'
import type { Intake } from './intake.ts'
import type { SyncRejection } from './progress.ts'

/** Messages that are read from the archive, or kept back from it, at a time. */
const BATCH_MESSAGES = 64
/** Nodes answer less than a hundred hashes reliably. */
const BATCH_HASHES = 99
/** After so many batches in a row of which it has nothing, a store is left. */
const MAX_MISSES = 2
/** Messages to drop before the peer is not listened to any more. */
const MAX_REJECTED = 1_000

/**
 * Sends messages to a peer, one frame each. What the archive does not have any more, or is too large, is left out.
 *
 * @returns how many left; fewer than asked for if the peer takes none, or the stream broke
 * @throws the signal's own reason
 */
export async function sendMessages(
  open: () => Promise<SyncStream>,
  archive: SyncArchive,
  ids: readonly SyncId[],
  signal: AbortSignal
): Promise<number> {
  let sent = 0
  let frames: Frames | undefined
  try {
    for (let start = 0; start < ids.length; start += BATCH_MESSAGES) {
      const batch = ids.slice(start, start + BATCH_MESSAGES).map(({ hash }) => hash)
      for (const message of await archive.get(batch)) {
        const frame = message && toFrame({ pubsubTopic: message.pubsubTopic, message })
        if (frame !== undefined) {
          frames ??= new Frames(await open(), MAX_TRANSFER_BYTES)
          await frames.write(frame, signal)
          sent++
        }
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!isWakuLightError(error) || !/CONNECTION|UNSUPPORTED/.test(error.code)) {
      frames?.abort('the archive failed')
      throw error
    }
  }
  // a peer that takes none may show it this late
  return frames === undefined || (await frames.close(signal)) ? sent : 0
}

function toFrame(message: TransferredMessage): Uint8Array | undefined {
  try {
    return encodeTransfer(message)
  } catch {
    return undefined
  }
}

/** Where received messages go. */
export interface MessageSink {
  /** Puts messages into archive and index. */
  store(intake: Intake, messages: readonly StoredMessage[], by: 'transfer' | 'store'): Promise<void>
  reject(reason: SyncRejection): void
}

/**
 * Takes in what a peer transfers, until it closes the stream.
 *
 * @param find - the sessions with the peer
 * @throws {@link LimitExceededError} if the peer sends too much that is dropped, or more than its sessions take
 * @throws what the stream throws, or the archive
 */
export async function receiveMessages(
  frames: Frames,
  find: () => readonly Intake[],
  sink: MessageSink,
  signal: AbortSignal
): Promise<void> {
  let rejected = 0
  for (let bytes = await frames.read(signal); bytes !== undefined; ) {
    const batches = new Map<Intake, StoredMessage[]>()
    try {
      for (let count = 0; bytes !== undefined; count++) {
        const judged = judge(find(), bytes)
        if (typeof judged === 'string') {
          sink.reject(judged)
          if (++rejected > MAX_REJECTED) {
            throw new LimitExceededError('too many messages were not asked for', MAX_REJECTED)
          }
        } else {
          const batch = batches.get(judged.intake)
          batches.set(judged.intake, [...(batch ?? []), judged.message])
        }
        bytes = count < BATCH_MESSAGES ? frames.take() : undefined
      }
    } finally {
      for (const [intake, messages] of batches) {
        await sink.store(intake, messages, 'transfer')
      }
    }
    bytes = await frames.read(signal)
  }
}

function judge(
  intakes: readonly Intake[],
  bytes: Uint8Array
): { readonly intake: Intake; readonly message: StoredMessage } | SyncRejection {
  let transferred: TransferredMessage
  try {
    transferred = decodeTransfer(bytes)
  } catch {
    return 'invalid'
  }
  let reason: SyncRejection = 'unexpected'
  for (const intake of intakes) {
    const judged = intake.judge(transferred.pubsubTopic, transferred.message, bytes.length)
    if (typeof judged !== 'string') {
      return { intake, message: judged }
    }
    reason = judged
  }
  return reason
}

/**
 * Asks store nodes by hash for what is still missing: one after the other, until nothing is. What a node answers is judged as
 * what is transferred.
 *
 * @throws the signal's own reason, or what the archive throws
 */
export async function fetchMessages(
  store: SyncStore,
  intake: Intake,
  peerIds: readonly string[],
  sink: MessageSink,
  signal: AbortSignal
): Promise<void> {
  for (const peerId of peerIds) {
    const wanted = intake.missing
    for (let start = 0, misses = 0; start < wanted.length && misses < MAX_MISSES; ) {
      const batch = wanted.slice(start, start + BATCH_HASHES)
      const found = await lookUp(store, intake, batch, { peerId, signal }, sink)
      if (found === undefined) {
        break
      }
      await sink.store(intake, found, 'store')
      misses = found.length === 0 ? misses + 1 : 0
      start += BATCH_HASHES
    }
  }
}

async function lookUp(
  store: SyncStore,
  intake: Intake,
  hashes: readonly Uint8Array[],
  options: { readonly peerId: string; readonly signal: AbortSignal },
  sink: MessageSink
): Promise<readonly StoredMessage[] | undefined> {
  const asked = new Set(hashes.map(toHex))
  const found: StoredMessage[] = []
  try {
    for await (const { messageHash, pubsubTopic, ...message } of store.lookup(hashes, options)) {
      const isAsked = asked.delete(toHex(messageHash))
      const judged = isAsked
        ? intake.judge(pubsubTopic, message, message.payload.length)
        : 'unexpected'
      if (typeof judged === 'string') {
        sink.reject(judged)
      } else {
        found.push(judged)
      }
    }
  } catch (error) {
    options.signal.throwIfAborted()
    if (!isWakuLightError(error)) {
      throw error
    }
    // the node is down, or looks up no hashes: another one may
    return found.length > 0 ? found : undefined
  }
  return found
}
