import { setTimeout as delay } from 'node:timers/promises'
import type { Connection, PeerId } from '@libp2p/interface'
import { ClusterMismatchError, ConnectionError } from 'waku-light/errors'
import {
  decodeMetadata,
  encodeMetadata,
  MAX_METADATA_BYTES,
  METADATA_PROTOCOL
} from 'waku-light/wire'
import { ask } from '../exchange.ts'
import type { Service } from './service.ts'

const GRACE_MS = 150

/** Serves metadata: which cluster this node belongs to, and which shards it relays. */
export function metadata(clusterId: number, shards: readonly number[]): Service {
  const frame = encodeMetadata({ clusterId, shards })
  return {
    protocol: METADATA_PROTOCOL,
    maxRequestBytes: MAX_METADATA_BYTES,
    respond: () => ({ frame, status: 'answered' })
  }
}

/** What {@link MetadataGuard} works with. */
export interface MetadataGuardInit {
  readonly clusterId: number
  readonly shards: readonly number[]
  readonly deadlineMs: number
  /** Ends all connections to a peer. */
  hangUp(peerId: PeerId): Promise<void>
}

/** Asks each connected peer for its cluster, and leaves those of another one or without an answer. */
export class MetadataGuard {
  readonly #init: MetadataGuardInit
  readonly #checks = new WeakMap<Connection, Promise<void>>()

  constructor(init: MetadataGuardInit) {
    this.#init = init
  }

  /**
   * Checks the peer of a connection, once.
   *
   * @throws {@link ClusterMismatchError} or {@link ConnectionError}; the peer is left then
   */
  check(connection: Connection): Promise<void> {
    let check = this.#checks.get(connection)
    if (check === undefined) {
      check = this.#check(connection)
      this.#checks.set(connection, check)
    }
    return check
  }

  async #check(connection: Connection): Promise<void> {
    const { clusterId, hangUp } = this.#init
    const peerId = connection.remotePeer
    try {
      const remoteClusterId = await this.#ask(connection)
      if (remoteClusterId !== clusterId) {
        throw new ClusterMismatchError(clusterId, remoteClusterId, peerId.toString())
      }
    } catch (cause) {
      if (cause instanceof ClusterMismatchError) {
        // The peer asks the same of this node at the same time: it should get its answer, and know why it is left.
        await delay(GRACE_MS, undefined, { ref: false })
      }
      await hangUp(peerId).catch((error: Error) => connection.abort(error))
      throw cause instanceof ClusterMismatchError
        ? cause
        : new ConnectionError(`peer ${peerId.toString()} did not answer the metadata request`, {
            cause
          })
    }
  }

  async #ask(connection: Connection): Promise<number | undefined> {
    const { clusterId, shards, deadlineMs } = this.#init
    const { bytes } = await ask(
      connection,
      {
        protocols: [METADATA_PROTOCOL],
        maxResponseBytes: MAX_METADATA_BYTES,
        encode: () => encodeMetadata({ clusterId, shards })
      },
      AbortSignal.timeout(deadlineMs)
    )
    return decodeMetadata(bytes).clusterId
  }
}
