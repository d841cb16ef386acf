import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type {
  ConnectionEncrypter,
  MessageStream,
  Stream,
  StreamMuxer,
  StreamMuxerFactory
} from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { lpStream } from '@libp2p/utils'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { toHello } from '../../../src/transport/echo.ts'
import { encodeMetadata, METADATA_PROTOCOL } from '../../../src/wire/metadata.ts'
import { echo } from './scripted-node.ts'

export interface OddNodeInit {
  /** By protocol: does with a stream what it likes, before libp2p sees it; `first` is what came with the negotiation. */
  readonly streams?: Readonly<Record<string, (stream: Stream, first: Uint8Array) => unknown>>
  /** Protocols that are echoed as they should be. */
  readonly echoes?: readonly string[]
  readonly withoutIdentify?: boolean
  readonly withoutPing?: boolean
  /** True: the muxer is not agreed inside of noise. */
  readonly muxerApart?: boolean
  readonly muxers?: Libp2pOptions['streamMuxers']
  /** Does something before the noise handshake of each connection; may throw. */
  readonly handshake?: (connection: MessageStream) => void | Promise<void>
  /** How its encrypter is called. @default '/noise' */
  readonly encrypter?: string
}

export interface OddNode {
  readonly peerId: string
  readonly address: string
  readonly port: number
  /** Handshakes that were begun. */
  readonly handshakes: () => number
  /** Connections that came about. */
  readonly accepted: () => number
  /** What was negotiated, in order, and whether anything came with it. */
  readonly asked: readonly string[]
  /** Closes what is open. */
  closeConnections(): Promise<void>
}

const running = new Set<() => Promise<void>>()

/** A service node of cluster 1 that is odd below its protocols. */
export async function startOddNode(init: OddNodeInit = {}): Promise<OddNode> {
  const asked: string[] = []
  let handshakes = 0
  let accepted = 0
  const encrypter = (components: Parameters<ReturnType<typeof noise>>[0]): ConnectionEncrypter => {
    const plain = noise()(components)
    const secure = plain.secureInbound.bind(plain)
    plain.protocol = init.encrypter ?? plain.protocol
    plain.secureInbound = async (connection, options) => {
      handshakes++
      await init.handshake?.(connection)
      return await secure(connection, {
        ...options,
        skipStreamMuxerNegotiation: init.muxerApart ?? false
      })
    }
    return plain
  }
  const muxer = (): StreamMuxerFactory => {
    const factory = yamux()()
    const create = factory.createStreamMuxer.bind(factory)
    return Object.assign(factory, {
      createStreamMuxer: (connection: MessageStream) =>
        withOddStreams(create(connection), init.streams ?? {}, asked)
    })
  }
  const libp2p = await createLibp2p({
    start: false,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0/ws'] },
    transports: [webSockets()],
    connectionEncrypters: [encrypter],
    streamMuxers: init.muxers ?? [muxer],
    connectionMonitor: { enabled: false },
    connectionManager: { inboundConnectionThreshold: 1000 },
    services: {
      ...(init.withoutIdentify ? {} : { identify: identify() }),
      ...(init.withoutPing ? {} : { ping: ping() })
    }
  })
  await libp2p.handle(METADATA_PROTOCOL, async (stream) => {
    const frames = lpStream(stream)
    await frames.read()
    await frames.write(encodeMetadata({ clusterId: 1, shards: [0] }))
    await stream.close()
  })
  for (const protocol of init.echoes ?? []) {
    await libp2p.handle(protocol, echo, { maxInboundStreams: 64 })
  }
  libp2p.addEventListener('connection:open', () => {
    accepted++
  })
  await libp2p.start()
  running.add(async () => {
    await libp2p.stop()
  })
  const [address] = libp2p.getMultiaddrs()
  return {
    peerId: libp2p.peerId.toString(),
    address: address?.toString() ?? '',
    port: Number(address?.getComponents().find(({ name }) => name === 'tcp')?.value),
    handshakes: () => handshakes,
    accepted: () => accepted,
    asked,
    closeConnections: async () => {
      await Promise.all(libp2p.getConnections().map((connection) => connection.close()))
    }
  }
}

/** For `afterEach`. */
export async function stopOddNodes(): Promise<void> {
  await Promise.all(Array.from(running, (stop) => stop()))
  running.clear()
}

function withOddStreams(
  muxer: StreamMuxer,
  handlers: Required<OddNodeInit>['streams'],
  asked: string[]
): StreamMuxer {
  const add = muxer.addEventListener.bind(muxer) as (type: string, listener: unknown) => void
  const serve = (stream: Stream, pass: () => void): void => {
    const onMessage = (event: { data: { subarray(): Uint8Array } }): void => {
      stream.removeEventListener('message', onMessage as never)
      const bytes = event.data.subarray()
      const protocol = toProtocol(bytes)
      const first = bytes.slice(toHello(protocol).length)
      asked.push(first.length > 0 ? `${protocol} with data` : protocol)
      const handler = handlers[protocol]
      if (handler === undefined) {
        stream.unshift(bytes)
        pass()
        return
      }
      Promise.resolve(handler(stream, first)).catch((error: Error) => stream.abort(error))
    }
    stream.addEventListener('message', onMessage)
  }
  muxer.addEventListener = (type: string, listener: (event: { detail: Stream }) => void) => {
    add(
      type,
      type === 'stream'
        ? (event: { detail: Stream }) => serve(event.detail, () => listener(event))
        : listener
    )
  }
  return muxer
}

/** Behind the header of multistream-select, which has a length of one byte. */
function toProtocol(bytes: Uint8Array): string {
  const start = (bytes[0] ?? 0) + 1
  const length = bytes[start] ?? 0
  return new TextDecoder().decode(bytes.subarray(start + 1, start + length))
}
