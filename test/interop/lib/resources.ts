/** What a suite has started, ended in reverse order, also where setting up failed half way. */
export class Resources {
  readonly #open: { close(): Promise<unknown> }[] = []

  /** Takes something to close later. */
  add<T extends { close(): Promise<unknown> }>(resource: T): T {
    this.#open.push(resource)
    return resource
  }

  /** Closes everything; the first failure is thrown at the end. */
  async close(): Promise<void> {
    const errors: unknown[] = []
    for (let resource = this.#open.pop(); resource !== undefined; resource = this.#open.pop()) {
      await resource.close().catch((error: unknown) => errors.push(error))
    }
    if (errors.length > 0) {
      throw errors[0]
    }
  }
}
