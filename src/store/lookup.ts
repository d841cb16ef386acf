import { hasErrorCode, NoUsablePeerError, UnsupportedError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import type { ServicePeers } from '../transport/service-peers.ts'
import { Failures } from './failures.ts'
import { protocolsOf, type StoreGeneration } from './generation.ts'
import type { Row, StoreProgress } from './page.ts'
import { rawPages } from './raw-pages.ts'
import { StoreSession } from './session.ts'
import { compareKeys } from './transforms.ts'
import { verify } from './verification.ts'

/**
 * Hashes in one request. The reference node on PostgreSQL answers a hundred of them with rows that nobody asked for, and
 * more than a hundred with a wrong cursor.
 */
export const MAX_HASHES_PER_REQUEST = 99

/** Everything that a look-up depends on. */
export interface LookupInit {
  readonly servicePeers: ServicePeers
  readonly generations: readonly StoreGeneration[]
  /** The only node to ask. */
  readonly peerId?: string
  readonly requestTimeoutMs: number
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly onProgress?: (event: StoreProgress) => void
}

/**
 * The generations that tell hashes, and messages by their hashes.
 *
 * @throws {@link UnsupportedError} if there is none
 */
export function thatTellHashes(generations: readonly StoreGeneration[]): StoreGeneration[] {
  const all = generations.filter(({ looksUpHashes }) => looksUpHashes)
  if (all.length === 0) {
    throw new UnsupportedError('no generation in use looks up hashes')
  }
  return all
}

/**
 * Asks for messages by their hashes, at the first node that answers.
 *
 * @param hashes - at most {@link MAX_HASHES_PER_REQUEST}, each once
 * @param includeData - false: whether they are there, without their content
 * @returns those that are there, in order
 * @throws {@link UnsupportedError} if no node in use looks up hashes
 * @throws {@link NoUsablePeerError} if none answers; the node's own error where there is one node only
 */
export async function lookUp(
  init: LookupInit,
  hashes: readonly Uint8Array<ArrayBuffer>[],
  includeData: boolean,
  signal: AbortSignal
): Promise<Row[]> {
  const generations = thatTellHashes(init.generations)
  const { servicePeers, peerId } = init
  const failures = new Failures({ ...init, generations })
  for (;;) {
    await servicePeers.reach?.(signal)
    for (const peer of servicePeers.candidates(protocolsOf(generations))) {
      if (peerId !== undefined && peerId !== peer.peerId) {
        continue
      }
      const session = new StoreSession({ ...init, generations, peer })
      session.signal = signal
      try {
        return await ask(session, hashes, includeData)
      } catch (error) {
        failures.add(peer, error, signal)
      }
    }
    await failures.bear(toError(failures), signal)
  }
}

function toError(failures: Failures): Error {
  const { all } = failures
  if (all.length > 0 && all.every(({ error }) => hasErrorCode(error, 'ERR_UNSUPPORTED'))) {
    return new UnsupportedError('no service node looks up hashes', {
      cause: new NoUsablePeerError(all)
    })
  }
  return failures.toError()
}

async function ask(
  session: StoreSession,
  hashes: readonly Uint8Array<ArrayBuffer>[],
  includeData: boolean
): Promise<Row[]> {
  // No filter beside the hashes, and a limit that holds them all: the reference node's default is 20.
  const query = {
    contentTopics: [],
    forward: true,
    limit: hashes.length,
    includeData,
    messageHashes: hashes
  }
  const missing = new Set(hashes.map(toHex))
  const rows: Row[] = []
  // A node whose pages are smaller takes several; no more than one for each hash, if it is honest.
  for await (const { page } of rawPages(session, query)) {
    const before = missing.size
    const stated = page.entries.filter(
      ({ messageHash }) => messageHash !== undefined && missing.delete(toHex(messageHash))
    )
    const found = verify(session, { query }, stated)
    rows.push(...found.rows)
    session.reportRejected(found.rejected)
    if (missing.size === 0) {
      break
    }
    if (page.completeness === 'more' && missing.size === before) {
      throw session.violation('no-progress', 'a page of a look-up holds nothing that was asked for')
    }
  }
  return rows.sort(compareKeys)
}
