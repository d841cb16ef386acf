import type { FakePeer } from './fake-peers.ts'

/** Peers whose answers travel together: all requests of a round are answered at its end. */
export class Rounds {
  /** How many there were: what a walk takes, in round trips. */
  count = 0
  #waiting: (() => void)[] = []

  /** The same peer, its answers on the way for a round. */
  slow(peer: FakePeer): FakePeer {
    return {
      ...peer,
      answer: async (request) => {
        const bytes = await peer.answer(request)
        await new Promise<void>((resolve) => {
          if (this.#waiting.push(resolve) === 1) {
            setTimeout(() => this.#end())
          }
        })
        return bytes
      }
    }
  }

  #end(): void {
    this.count++
    for (const resolve of this.#waiting.splice(0)) {
      resolve()
    }
  }
}

/** Lets everything happen that does not wait for something from outside. */
export async function settle(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => setTimeout(resolve))
  }
}

/** A signal that counts its listeners. */
export function countingSignal(): {
  readonly controller: AbortController
  readonly signal: AbortSignal
  readonly listeners: () => number
} {
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>): void => {
    listeners++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
    listeners--
    remove(...args)
  }
  return { controller, signal, listeners: () => listeners }
}
