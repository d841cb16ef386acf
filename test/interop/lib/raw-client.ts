import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { encodeMetadata, METADATA_PROTOCOL } from 'waku-light/wire'

const TIMEOUT_MS = 5_000
const MAX_FRAME_BYTES = 16 * 1024 * 1024

/** A libp2p that sends what our clients would not, byte by byte. */
export class RawClient {
  readonly #libp2p: Libp2p
  readonly #connection: Connection

  private constructor(libp2p: Libp2p, connection: Connection) {
    this.#libp2p = libp2p
    this.#connection = connection
  }

  /**
   * Connects to a node.
   *
   * @param clusterId - what to answer when it asks for metadata; undefined for no answer
   */
  static async connect(address: string, clusterId: number | undefined): Promise<RawClient> {
    const libp2p = await createLibp2p({
      transports: [webSockets()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      connectionGater: { denyDialMultiaddr: () => false },
      services: { identify: identify() }
    })
    if (clusterId !== undefined) {
      await libp2p.handle(METADATA_PROTOCOL, async (stream) => {
        const frames = lpStream(stream)
        await frames.read()
        await frames.write(encodeMetadata({ clusterId, shards: [] }))
        await stream.close()
      })
    }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return new RawClient(libp2p, await libp2p.dial(multiaddr(address), { signal }))
  }

  get isConnected(): boolean {
    return this.#connection.status === 'open'
  }

  /** Writes one frame and reads one; `reset` if the node ends the stream instead. */
  async request(protocol: string, body: Uint8Array): Promise<Uint8Array | 'reset'> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const stream = await this.#connection.newStream(protocol, { signal })
    try {
      const frames = lpStream(stream, { maxDataLength: MAX_FRAME_BYTES })
      await frames.write(body, { signal })
      const answer = await frames.read({ signal })
      await stream.close({ signal })
      return answer.subarray()
    } catch (error) {
      stream.abort(error as Error)
      signal.throwIfAborted()
      return 'reset'
    }
  }

  async close(): Promise<void> {
    await this.#libp2p.stop()
  }
}
