/** Which protocols a peer speaks, as far as is known. */
export class SpokenProtocols {
  /** All that it speaks, as it says itself. */
  #listed: ReadonlySet<string> | undefined
  readonly #refused = new Set<string>()

  /** What the peer says in identify, which outweighs what it said before. */
  list(protocols: readonly string[]): void {
    this.#listed = new Set(protocols)
    this.#refused.clear()
  }

  /** It has refused, or taken, a stream for one. */
  note(protocol: string, isSpoken: boolean): void {
    if (isSpoken) {
      this.#refused.delete(protocol)
    } else {
      this.#refused.add(protocol)
    }
  }

  /** The most wanted one that it is not known to lack first; each is worth a try, as it may have changed. */
  inOrder(protocols: readonly string[]): string[] {
    const lacks = (protocol: string): boolean =>
      this.#refused.has(protocol) || this.#listed?.has(protocol) === false
    return [...protocols].sort((a, b) => Number(lacks(a)) - Number(lacks(b)))
  }
}
