/** A clock that moves only by waiting, and a record of the waits. */
export class PushClock {
  readonly waits: number[] = []
  #ms: number

  constructor(ms = 1_700_000_000_123) {
    this.#ms = ms
  }

  readonly now = (): number => this.#ms

  /** Waits are at their longest. */
  readonly random = (): number => 1

  readonly sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    this.waits.push(ms)
    this.#ms += ms
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#ms += ms
  }
}
