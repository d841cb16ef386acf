import { join } from 'node:path'
import { LinePeer } from './line-peer.ts'

/** A message as js-waku's JSON has it. */
export interface JsMessage {
  /** As js-waku computes it. */
  readonly hash: string
  readonly pubsubTopic: string
  readonly contentTopic: string
  readonly payload: string
  readonly timestampMs?: number
  readonly version: number
  readonly ephemeral: boolean
}

/** What became of a push. */
export interface JsPush {
  readonly pubsubTopic: string
  readonly successes: readonly string[]
  readonly failures: readonly string[]
}

/** The pages of one query; null for an entry without a message. */
export interface JsPages {
  readonly pages: readonly (readonly (JsMessage | null)[])[]
}

const PROGRAM = join(import.meta.dirname, '../js-waku/peer.js')

/** A light node of js-waku in a process of its own; ../js-waku/README.md has its commands. */
export class JsWaku {
  readonly #peer: LinePeer<{ peerId: string }>

  private constructor(peer: LinePeer<{ peerId: string }>) {
    this.#peer = peer
  }

  /** Starts a light node that knows one service node. */
  static async start(network: {
    readonly clusterId: number
    /** Absent: static sharding. */
    readonly shardCount?: number
    readonly address: string
  }): Promise<JsWaku> {
    const args = [PROGRAM, network.address, String(network.clusterId)]
    if (network.shardCount !== undefined) {
      args.push(String(network.shardCount))
    }
    return new JsWaku(await LinePeer.start(process.execPath, args))
  }

  async call<Result>(cmd: string, args: object = {}): Promise<Result> {
    return await this.#peer.call<Result>(cmd, args)
  }

  async close(): Promise<number | null> {
    return await this.#peer.close()
  }
}
