import { yamux } from '@chainsafe/libp2p-yamux'
import type { AbortOptions, Connection, Stream, StreamMuxer } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'

export const PROTOCOL = '/waku-light/test/1.0.0'

export interface MemoryConnection {
  /** Our side, as far as an exchange uses it. */
  readonly connection: Connection
  /** Streams that the muxers still hold. */
  readonly streams: () => { readonly ours: number; readonly theirs: number }
  /** Resolves when both muxers hold no stream. */
  drained(): Promise<void>
  /** Breaks the connection from the other side. */
  breakOff(): void
  close(): Promise<void>
}

const open = new Set<MemoryConnection>()

/** Two real muxers, joined in memory; the far side does with each stream what the test says. */
export function connectInMemory(
  serve: (stream: Stream) => unknown,
  protocols: readonly string[] = [PROTOCOL]
): MemoryConnection {
  const [outbound, inbound] = multiaddrConnectionPair({ capacity: 1000 })
  const create = yamux({ enableKeepAlive: false })
  const ours: StreamMuxer = create().createStreamMuxer(outbound)
  const theirs: StreamMuxer = create().createStreamMuxer(inbound)
  theirs.addEventListener('stream', ({ detail: stream }) => {
    Promise.resolve(serve(stream)).catch((error: Error) => stream.abort(error))
  })
  const connection = {
    get streams() {
      return ours.streams
    },
    abort: (error: Error) => outbound.abort(error),
    newStream: async (wanted: string[], options: AbortOptions = {}) => {
      options.signal?.throwIfAborted()
      const protocol = wanted.find((candidate) => protocols.includes(candidate))
      if (protocol === undefined) {
        throw Object.assign(new Error('no'), { name: 'UnsupportedProtocolError' })
      }
      const stream = await ours.createStream()
      stream.protocol = protocol
      return stream
    }
  } as unknown as Connection
  const memory: MemoryConnection = {
    connection,
    streams: () => ({ ours: ours.streams.length, theirs: theirs.streams.length }),
    drained: async () => {
      while (ours.streams.length > 0 || theirs.streams.length > 0) {
        const [stream] = [...ours.streams, ...theirs.streams]
        const closed = Promise.withResolvers<void>()
        stream?.addEventListener('close', () => closed.resolve(), { once: true })
        await closed.promise
      }
    },
    breakOff: () => inbound.abort(new Error('broken off')),
    close: async () => {
      open.delete(memory)
      outbound.abort(new Error('the test is over'))
      inbound.abort(new Error('the test is over'))
    }
  }
  open.add(memory)
  return memory
}

/** For `afterEach`. */
export async function closeMemoryConnections(): Promise<void> {
  await Promise.all(Array.from(open, (memory) => memory.close()))
}
