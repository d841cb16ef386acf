import type { Stream } from '@libp2p/interface'

/** How much is read before room for more is told, in bytes: a quarter of a muxer's first window. */
const STEP_BYTES = 64 * 1024

/** The seam of yamux's streams at which room is told. */
interface Windowed {
  /** Bytes that the peer may send in all, and those that are left of it. */
  readonly recvWindow: number
  readonly recvWindowCapacity: number
  sendWindowUpdate(): void
}

/**
 * Tells the peer of new room only once there is something to tell. As it is, yamux answers each frame that it reads with one of
 * its own, however small: an answer that fits into the window many times over would cost two or three, each a message of the
 * websocket. Another muxer's stream is left as it is.
 */
export function sparing<Outgoing extends Stream>(stream: Outgoing): Outgoing {
  if ('sendWindowUpdate' in stream) {
    const windowed = stream as unknown as Windowed
    const tell = windowed.sendWindowUpdate
    windowed.sendWindowUpdate = () => {
      const isEarly = windowed.recvWindow - windowed.recvWindowCapacity < STEP_BYTES
      if (!isEarly) {
        tell.call(windowed)
      }
    }
  }
  return stream
}
