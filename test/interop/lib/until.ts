const DEADLINE_MS = 15_000
const INTERVAL_MS = 20

/** Asks again until there is an answer other than undefined and false; what does not come within 15 s fails. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false
): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) {
      return answer
    }
    if (Date.now() > deadline) {
      throw new Error(`not within ${DEADLINE_MS} ms: ${what}`)
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
  }
}
