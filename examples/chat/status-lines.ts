// The two lines above the messages: the connection, and what became of catching up.
import type { CatchUpState, ConnectionState } from './model.ts'
import { byId } from './page.ts'
import { describeCatchUp, describeConnection } from './words.ts'

export class StatusLines {
  #ticking: ReturnType<typeof setInterval> | undefined

  show(connection: ConnectionState, catchUp: CatchUpState): void {
    this.#showConnection(connection)
    const isConnected = connection.state === 'connected'
    // that another tab is at it shows only once this one could be
    const isKnown = catchUp.state !== 'waiting' || isConnected
    setText('catch-up-text', isKnown ? describeCatchUp(catchUp) : '')
    byId('catch-up').dataset.state = catchUp.state
    // without a connection, there is a button for that
    byId('catch-up-now').hidden = catchUp.state !== 'failed' || !isConnected
  }

  close(): void {
    clearInterval(this.#ticking)
  }

  #showConnection(connection: ConnectionState): void {
    byId('connection').dataset.state = connection.state
    byId('connection').title = 'reason' in connection ? (connection.reason ?? '') : ''
    byId('reconnect').hidden = connection.state === 'connected' || connection.state === 'connecting'
    clearInterval(this.#ticking)
    const show = (): void => setText('connection-text', describeConnection(connection))
    show()
    if (connection.state === 'reconnecting' && connection.retryAtMs !== undefined) {
      this.#ticking = setInterval(show, 500)
    }
  }
}

/** What is the same is not read out again. */
function setText(id: string, text: string): void {
  const element = byId(id)
  if (element.textContent !== text) {
    element.textContent = text
  }
}
