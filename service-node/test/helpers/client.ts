import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream, StreamMuxerFactory } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { Uint8ArrayList } from 'uint8arraylist'
import { encodeMetadata, METADATA_PROTOCOL } from 'waku-light/wire'

export interface ClientInit {
  /** Undefined: does not answer metadata requests. */
  clusterId?: number
  muxers?: (() => StreamMuxerFactory)[]
}

/** A plain libp2p client: what a light client is on the wire. */
export class Client {
  readonly libp2p: Libp2p

  private constructor(libp2p: Libp2p) {
    this.libp2p = libp2p
  }

  static async start({ clusterId, muxers = [yamux()] }: ClientInit): Promise<Client> {
    const libp2p = await createLibp2p({
      start: false,
      transports: [tcp(), webSockets()],
      connectionEncrypters: [noise()],
      streamMuxers: muxers,
      connectionGater: { denyDialMultiaddr: () => false },
      connectionMonitor: { enabled: false },
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
    await libp2p.start()
    return new Client(libp2p)
  }

  dial(address: string | undefined): Promise<Connection> {
    return this.libp2p.dial(multiaddr(address ?? ''), { signal: AbortSignal.timeout(5000) })
  }

  async open(address: string | undefined, protocol: string): Promise<Stream> {
    const connection = await this.dial(address)
    return connection.newStream(protocol, {
      signal: AbortSignal.timeout(5000),
      maxOutboundStreams: 1000
    })
  }

  /** One exchange: a frame out, a frame in. */
  async request(
    address: string | undefined,
    protocol: string,
    body: Uint8Array
  ): Promise<Uint8Array> {
    const signal = AbortSignal.timeout(10_000)
    const stream = await this.open(address, protocol)
    const frames = lpStream(stream, { maxDataLength: 20_000_000, maxBufferSize: 40_000_000 })
    // The node may answer without reading.
    await frames.write(body, { signal }).catch(() => undefined)
    const answer = await frames.read({ signal })
    await stream.close({ signal })
    return answer.subarray()
  }

  /** Writes bytes as they are, half-closes, and reads to the end. */
  async exchangeRaw(
    address: string | undefined,
    protocol: string,
    bytes: Uint8Array
  ): Promise<Uint8Array> {
    const stream = await this.open(address, protocol)
    const read = new Uint8ArrayList()
    const ended = new Promise<void>((resolve, reject) => {
      stream.addEventListener('message', ({ data }) => read.append(data))
      stream.addEventListener('close', ({ error }) =>
        error === undefined ? resolve() : reject(error)
      )
    })
    if (bytes.length > 0) {
      stream.send(bytes)
    }
    await stream.close()
    await ended
    return read.subarray()
  }

  async stop(): Promise<void> {
    await this.libp2p.stop()
  }
}
