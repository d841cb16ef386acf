import { setTimeout as delay } from 'node:timers/promises'

const PAUSE_MS = 20

/** Waits for something outside of a page, where playwright's own waits do not reach. */
export async function until(what: string, isSo: () => boolean, deadlineMs = 10_000): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!isSo()) {
    if (performance.now() > deadline) {
      throw new Error(`not within ${deadlineMs} ms: ${what}`)
    }
    await delay(PAUSE_MS)
  }
}
