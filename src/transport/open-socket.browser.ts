/** A websocket, with a way to be rid of it. */
export interface OpenSocket {
  readonly socket: WebSocket
  /** Destroys what is underneath, where the platform would keep it. */
  destroy(): void
}

/** Opens a websocket; a browser drops it by itself if the peer does not answer to a close. */
export function openSocket(url: string): OpenSocket {
  return { socket: new WebSocket(url), destroy: () => undefined }
}
