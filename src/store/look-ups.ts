import { hasErrorCode, InvalidArgumentError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { assertTimeoutMs, withDeadline } from '../lib/deadline.ts'
import { MESSAGE_HASH_BYTES } from '../message/message-hash.ts'
import { type LookupInit, lookUp, MAX_HASHES_PER_REQUEST } from './lookup.ts'
import { STORE_DEFAULTS } from './options.ts'
import type { Row, StoredMessage } from './page.ts'

/** How to look up any number of hashes. */
export interface FindInit extends LookupInit {
  /** False: presence only; messages then hold their hash and nothing else. */
  readonly includeData: boolean
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** The stretch of history to search, where a node cannot look up hashes; nothing is asked for before it is pulled. */
  readonly within: AsyncIterable<StoredMessage> | undefined
}

/**
 * Messages by their hashes, batch by batch. What the node that is asked does not have is left out.
 *
 * @throws {@link InvalidArgumentError} at once; what {@link lookUp} throws when it is pulled
 */
export function find(init: FindInit, hashes: readonly Uint8Array[]): AsyncGenerator<StoredMessage> {
  if (!Array.isArray(hashes)) {
    throw new InvalidArgumentError('hashes', 'must be an array')
  }
  for (const hash of hashes as readonly Uint8Array[]) {
    if (!(hash instanceof Uint8Array) || hash.length !== MESSAGE_HASH_BYTES) {
      const problem = `must hold Uint8Arrays of ${MESSAGE_HASH_BYTES} bytes`
      throw new InvalidArgumentError('hashes', problem)
    }
  }
  assertTimeoutMs(init.timeoutMs ?? STORE_DEFAULTS.timeoutMs)
  const unique = new Map(
    (hashes as readonly Uint8Array[]).map((hash) => [toHex(hash), new Uint8Array(hash)])
  )
  return findAll(init, [...unique.values()])
}

async function* findAll(
  init: FindInit,
  hashes: readonly Uint8Array<ArrayBuffer>[]
): AsyncGenerator<StoredMessage> {
  for (let index = 0; index < hashes.length; index += MAX_HASHES_PER_REQUEST) {
    const batch = hashes.slice(index, index + MAX_HASHES_PER_REQUEST)
    let rows: readonly Row[]
    try {
      rows = await withDeadline('look-up', init, STORE_DEFAULTS.timeoutMs, async (signal) => {
        await init.servicePeers.network(signal)
        return await lookUp(init, batch, init.includeData, signal)
      })
    } catch (error) {
      if (init.within === undefined || !isUnsupported(error)) {
        throw error
      }
      // Before store-query 3.0.0: the stretch of history that holds them is searched, once for all that are left.
      yield* among(init.within, hashes.slice(index))
      return
    }
    for (const { message } of rows) {
      init.signal?.throwIfAborted()
      yield message
    }
  }
}

async function* among(
  messages: AsyncIterable<StoredMessage>,
  hashes: readonly Uint8Array[]
): AsyncGenerator<StoredMessage> {
  const missing = new Set(hashes.map(toHex))
  for await (const message of messages) {
    if (missing.delete(toHex(message.messageHash))) {
      yield message
    }
    if (missing.size === 0) {
      return
    }
  }
}

/** True if a node that was reached does not look up hashes. */
function isUnsupported(error: unknown): boolean {
  return hasErrorCode(error, 'ERR_NO_USABLE_PEER')
    ? error.failures.some((failure) => isUnsupported(failure.error))
    : hasErrorCode(error, 'ERR_UNSUPPORTED')
}
