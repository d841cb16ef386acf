import { setTimeout as delay } from 'node:timers/promises'
import type { ResumeStore } from 'waku-light/resume'

/**
 * What is new comes by relay, and is in the archive already: this tail brings no message, and says at an interval that all
 * that was there has come, for as long as somebody relays to this node.
 *
 * @param isConnected - whether somebody does
 */
export function relayTail(isConnected: () => boolean): ResumeStore['follow'] {
  return (_criteria, { intervalMs, signal, onProgress }) => ({
    [Symbol.asyncIterator]: () => ({
      async next() {
        for (;;) {
          await delay(intervalMs, undefined, { signal }).catch(() => undefined)
          signal?.throwIfAborted()
          if (isConnected()) {
            onProgress?.({ type: 'store:caught-up', detail: { newest: undefined } })
          }
        }
      }
    })
  })
}
