import { hasErrorCode, NoUsablePeerError, type PeerFailure } from '../errors.ts'
import type { ResumeNode } from './components.ts'

/** Whom to ask: a random one, then others, each once until there is progress again. */
export class Nodes {
  readonly #node: ResumeNode | undefined
  readonly #random: () => number
  #failures: PeerFailure[] = []
  readonly #wanted: string | undefined

  /**
   * @param node - left out: the store client chooses, of whom `''` is all that there is
   * @param wanted - asked first, if it is there
   */
  constructor(node: ResumeNode | undefined, random: () => number, wanted?: string) {
    this.#node = node
    this.#random = random
    this.#wanted = wanted
  }

  /**
   * The next one.
   *
   * @throws {@link NoUsablePeerError} if there is none that did not fail
   */
  next(): string {
    const failed = new Set(this.#failures.map(({ peerId }) => peerId))
    // Without a choice of our own the store client makes one.
    const known = this.#node?.servicePeers.candidates() ?? [{ peerId: '' }]
    const left = known.map(({ peerId }) => peerId).filter((peerId) => !failed.has(peerId))
    const wanted = left.find((peerId) => peerId === this.#wanted)
    const chosen =
      wanted ?? left[Math.min(Math.floor(this.#random() * left.length), left.length - 1)]
    if (chosen === undefined) {
      const [only] = this.#failures
      // Where the store client made the choice, it has told what failed at each.
      throw hasErrorCode(only?.error, 'ERR_NO_USABLE_PEER')
        ? only.error
        : new NoUsablePeerError(this.#failures)
    }
    return chosen
  }

  /** Asks others from now on. */
  leave(peerId: string, error: Error): void {
    this.#failures.push({ peerId, error })
  }

  /** What failed before may be asked again. */
  progress(): void {
    this.#failures = []
  }
}
