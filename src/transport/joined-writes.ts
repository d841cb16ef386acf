import type { ConnectionEncrypter, MessageStream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'

/** Makes an encrypter, as libp2p's `connectionEncrypters` take it. */
export type CreateEncrypter<Components> = (components: Components) => ConnectionEncrypter

/** How many promises may settle one after the other, without a write, before what is held leaves: more than a call takes. */
const MAX_QUIET_HOPS = 64

/** From how many bytes on what is held leaves: the peer begins with it while the rest is made. */
const MAX_HELD_BYTES = 8 * 1024

/**
 * Joins what is written to a connection in one turn of the event loop: it is encrypted once, and leaves as one message of the
 * websocket. A muxer writes the beginning of a stream, a request, each window and the end of the stream before by themselves,
 * and noise each in two parts. Nothing waits for a timer: what is held leaves before the turn ends.
 *
 * @param create - such as `noise()`
 *
 * @example
 * ```ts
 * const libp2p = await createLibp2p({ connectionEncrypters: [joinWrites(noise())], ...others })
 * ```
 */
export function joinWrites<Components>(
  create: CreateEncrypter<Components>
): CreateEncrypter<Components> {
  return (components) => {
    const encrypter = create(components)
    const { secureInbound, secureOutbound } = encrypter
    encrypter.secureInbound = async (wire, options) =>
      inTurns(wire, await secureInbound.call(encrypter, inOnePart(wire), options))
    encrypter.secureOutbound = async (wire, options) =>
      inTurns(wire, await secureOutbound.call(encrypter, inOnePart(wire), options))
    return encrypter
  }
}

/** Each part of a list would be a message of its own. */
function inOnePart<Wire extends MessageStream>(wire: Wire): Wire {
  const send = wire.send.bind(wire)
  wire.send = (data) => send(data.subarray())
  return wire
}

function inTurns<Secured extends { readonly connection: MessageStream }>(
  wire: MessageStream,
  secured: Secured
): Secured {
  const { connection } = secured
  const send = connection.send.bind(connection)
  const held = new Uint8ArrayList()
  let quietHops = 0
  let isWatched = false

  const flush = (): void => {
    if (held.byteLength > 0) {
      const data = held.subarray()
      held.consume(data.length)
      try {
        send(data)
      } catch (error) {
        connection.abort(error as Error) // those who wrote it have gone on
      }
    }
  }
  const flushWhenQuiet = async (): Promise<void> => {
    isWatched = true // by one alone, or hops would count more than once
    for (quietHops = 0; quietHops < MAX_QUIET_HOPS; quietHops++) {
      await Promise.resolve()
    }
    isWatched = false
    flush()
  }

  connection.send = (data) => {
    if (connection.status !== 'open') {
      return send(data)
    }
    if (!isWatched) {
      flushWhenQuiet().catch(() => undefined) // it cannot fail
    }
    held.append(data)
    quietHops = 0
    if (held.byteLength >= MAX_HELD_BYTES) {
      flush()
    }
    return !connection.writableNeedsDrain
  }
  // libp2p ends the wire, not what runs over it.
  for (const stream of [wire, connection]) {
    const { close, abort } = stream
    stream.close = async (options) => {
      flush()
      await close.call(stream, options)
    }
    stream.abort = (error) => {
      flush()
      abort.call(stream, error)
    }
  }
  return secured
}
