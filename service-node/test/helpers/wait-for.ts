/** Polls until `condition` gives something truthy; rejects after a deadline. */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 10_000
): Promise<NonNullable<T>> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) {
      return value
    }
    if (performance.now() > endMs) {
      throw new Error(`${what}: not within ${timeoutMs} ms`)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
