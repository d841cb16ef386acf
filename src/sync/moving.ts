import { hasErrorCode, isWakuLightError, ProtocolViolationError } from '../errors.ts'
import { assertLimit } from '../wire/sync-bytes.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import {
  decodeTransfer,
  encodeTransfer,
  MAX_TRANSFER_BYTES,
  TRANSFER_PROTOCOL,
  type TransferredMessage
} from '../wire/sync-transfer.ts'
import type { SyncContext } from './context.ts'
import type { Frames } from './frames.ts'
import type { Intake } from './intake.ts'
import { knownPeers, openFrames } from './peers.ts'
import type { SyncProgress, SyncRejection } from './progress.ts'

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
  { node, settings }: SyncContext,
  peerId: string,
  ids: readonly SyncId[],
  signal: AbortSignal
): Promise<number> {
  let sent = 0
  let frames: Frames | undefined
  try {
    for (let start = 0; start < ids.length; start += BATCH_MESSAGES) {
      const batch = ids.slice(start, start + BATCH_MESSAGES).map(({ hash }) => hash)
      for (const message of await settings.archive.get(batch)) {
        const frame = message && toFrame({ pubsubTopic: message.pubsubTopic, message })
        if (frame !== undefined) {
          frames ??= await openFrames(node, peerId, TRANSFER_PROTOCOL, MAX_TRANSFER_BYTES, signal)
          await frames.write(frame, signal)
          sent++
        }
      }
    }
  } catch (error) {
    if (signal.aborted || !hasErrorCode(error, 'ERR_CONNECTION', 'ERR_UNSUPPORTED')) {
      frames?.abort()
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

/**
 * Takes what a peer transfers until it closes the stream.
 *
 * @throws {@link ProtocolViolationError} where there is no session with it, {@link LimitExceededError} for more than a session
 * takes, or than nobody asked for, what stream or archive throws, or the signal's own reason
 */
export async function receive(
  { intakes, tell, signal }: SyncContext,
  frames: Frames,
  peerId: string
): Promise<void> {
  const find = (): readonly Intake[] => {
    const found = intakes.of(peerId)
    if (found.length === 0) {
      throw new ProtocolViolationError('no-session', 'a transfer without session', peerId)
    }
    return found
  }
  find()
  let rejectedCount = 0
  for (let bytes = await frames.read(signal); bytes !== undefined; ) {
    const found = find()
    try {
      for (let count = 0; bytes !== undefined; count++) {
        const reason = judge(found, bytes)
        if (reason !== undefined) {
          tell(rejected(peerId, reason))
          assertLimit(++rejectedCount, MAX_REJECTED, 'unexpected messages')
        }
        bytes = count < BATCH_MESSAGES ? frames.take() : undefined
      }
    } finally {
      for (const intake of found) {
        await intake.store('transfer')
      }
    }
    bytes = await frames.read(signal)
  }
}

function rejected(peerId: string, reason: SyncRejection): SyncProgress {
  return { type: 'sync:rejected', detail: { peerId, reason } }
}

/** Why none of some sessions takes a message. */
function judge(intakes: readonly Intake[], bytes: Uint8Array): SyncRejection | undefined {
  let transferred: TransferredMessage
  try {
    transferred = decodeTransfer(bytes)
  } catch {
    return 'invalid'
  }
  const { pubsubTopic, message } = transferred
  let reason: SyncRejection | undefined
  for (const intake of intakes) {
    reason = intake.judge(pubsubTopic, message, bytes.length, 'transfer')
    if (reason === undefined) {
      break
    }
  }
  return reason
}

/**
 * Asks store nodes by hash for what is still missing: the peer itself, then one after the other, until nothing is. What a node
 * answers is judged as what is transferred.
 *
 * @throws the signal's own reason, or what the archive throws
 */
export async function fetchMessages(
  { node, store }: SyncContext,
  intake: Intake,
  signal: AbortSignal
): Promise<void> {
  if (store === undefined) {
    return
  }
  for (const peerId of new Set([intake.peerId, ...knownPeers(node)])) {
    const wanted = intake.missing
    for (let start = 0, misses = 0; start < wanted.length && misses < MAX_MISSES; ) {
      const batch = wanted.slice(start, start + BATCH_HASHES)
      try {
        for await (const row of store.lookup(batch, { peerId, signal })) {
          const reason = intake.judge(row.pubsubTopic, row, row.payload.length, 'store')
          if (reason !== undefined) {
            intake.tell(rejected(intake.peerId, reason))
          }
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!isWakuLightError(error)) {
          throw error
        }
        misses = MAX_MISSES // the node is down, or looks up no hashes: another one may
      }
      misses = (await intake.store('store')) === 0 ? misses + 1 : 0
      start += BATCH_HASHES
    }
  }
}
