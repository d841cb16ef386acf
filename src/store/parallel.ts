import { hasErrorCode, IncompleteHistoryError } from '../errors.ts'
import { assertInteger } from '../lib/checks.ts'
import type { ServicePeers } from '../transport/service-peers.ts'
import type { MessagePage } from './page.ts'
import { decodePosition, encodePosition, type WalkPosition } from './position.ts'
import { RunningWalk, stepByStep } from './running-walk.ts'
import { MAX_TIME, walk } from './walk.ts'
import type { Walker, WalkInit } from './walker.ts'

/** Largest number of walks side by side. */
const MAX_WALKS = 32

/** How much of a page a piece is meant to fill: what is more than a page takes another round trip. */
const FILL = 0.7

/** What is longer than this, in lengths of such pieces, is cut. */
const MAX_LENGTHS = 1.5

/** Requests for each page that was delivered, and for each walk; beyond that nothing is cut. */
const MAX_REQUESTS_PER_PAGE = 2

/** A pause that leaves no more than this of the time that a page takes says nothing of the density around it. */
const MAX_SPAN_BESIDE_PAUSE = 0.1

/**
 * Walks through several pieces of the time range side by side, at the node that gave the first page, and delivers them in
 * order. What a page leaves of its piece is cut at once, by the density that it shows. No more than a page for each walk is
 * held beside the one that the app has; nothing more is asked for until that is pulled.
 *
 * Worth it where the round trip is long: 8 walks leave a fifth of the round trips where times are even, half where each few
 * pages lie together. It asks half as often again as a walk page by page, or about twice as often. At nodes before store-query
 * 3.0.0 it walks page by page.
 *
 * @param walks - how many side by side, 1 to 32
 * @throws {@link InvalidArgumentError} for another number
 *
 * @example
 * ```ts
 * for await (const message of store.query(criteria, { walker: parallel(8) })) render(message)
 * ```
 */
export function parallel(walks: number): Walker {
  assertInteger('walks', walks, 1, MAX_WALKS)
  return { begin: (init) => stepByStep(init, () => new Pieces(init, walks)) }
}

/** A piece of the time range, of which one page is asked for; what that leaves is a piece of its own. */
interface Piece {
  /** It begins after the last message of this, else at its near end. */
  readonly start: WalkPosition
  /** Its ends, in the direction of walking; undefined: those of the range. */
  readonly near: bigint | undefined
  readonly far: bigint | undefined
  /** What the pages before it showed, the older the less. */
  readonly density: Density
  state: 'idle' | 'asked' | 'held' | 'failed'
  running?: RunningWalk<MessagePage>
  /** Fulfilled once it is held or has failed. */
  answered?: Promise<void>
  page?: MessagePage
  error?: unknown
}

interface Density {
  readonly count: number
  /** In which time, in nanoseconds. */
  readonly span: number
}

class Pieces {
  readonly #init: WalkInit
  readonly #walks: number
  /** In order; the first is delivered next. */
  #pieces: Piece[]
  /** Most messages seen in a page after which there were more. */
  #capacity = 1
  #requestCount = 0
  /** Those that were full count as one. */
  #deliveredPages = 0
  /** Of the node that gave the first page. */
  #peerId: string | undefined
  #position: WalkPosition
  #isCut = false

  constructor(init: WalkInit, walks: number) {
    this.#init = init
    this.#walks = walks
    this.#position = init.position
    this.#pieces = [toPiece(init.position, undefined, undefined, { count: 0, span: 0 })]
  }

  async close(): Promise<void> {
    const pieces = this.#pieces
    this.#pieces = []
    await Promise.all(pieces.map(async ({ running }) => await running?.close()))
  }

  /** The page of the first piece; what the others need is under way when it returns. */
  async next(): Promise<MessagePage> {
    for (;;) {
      await this.#fill()
      this.#init.signal?.throwIfAborted()
      const [{ state, page, error }] = this.#pieces as [Piece, ...Piece[]]
      if (page !== undefined) {
        this.#pieces.shift()
        return this.#deliver(page)
      }
      if (state === 'failed') {
        throw this.#isCut && hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')
          ? new IncompleteHistoryError(encodePosition(this.#position), error.cause)
          : error
      }
      await Promise.race(this.#answers)
    }
  }

  #deliver(page: MessagePage): MessagePage {
    const { digest } = this.#position
    const { last = this.#position.last } = decodePosition(page.position, digest)
    this.#position = { digest, last }
    this.#deliveredPages += page.completeness === 'more' ? 1 : sizeOf(page) / this.#capacity
    return {
      ...page,
      // Unless it is cut, this is a walk page by page, and its positions hold the node's cursors.
      position: this.#isCut ? encodePosition(this.#position) : page.position,
      completeness: this.#pieces.length > 0 ? 'more' : page.completeness
    }
  }

  /** Of what is under way. */
  get #answers(): Promise<void>[] {
    return this.#pieces.flatMap(({ state, answered }) =>
      state === 'asked' && answered !== undefined ? [answered] : []
    )
  }

  /** Asks for what comes next, as far as there is room. */
  async #fill(): Promise<void> {
    for (;;) {
      const index = this.#pieces.findIndex(({ state }) => state === 'idle')
      const piece = this.#pieces[index]
      if (piece === undefined || !this.#hasRoomAt(index)) {
        return
      }
      const length = this.#lengthWithin(piece)
      if (length === undefined) {
        this.#ask(piece)
      } else {
        await this.#cut(index, piece, length)
      }
    }
  }

  /** True if one more page can be asked for. That of the first piece is about to be the app's. */
  #hasRoomAt(index: number): boolean {
    const others = this.#pieces.slice(1).filter(({ state }) => state !== 'idle')
    const sizes = others.map(({ page }) => (page === undefined ? this.#capacity : sizeOf(page)))
    const size = sizes.reduce((a, b) => a + b, this.#capacity)
    const isFree = index === 0 || size <= this.#walks * this.#capacity
    return isFree && this.#answers.length < this.#walks
  }

  /** How long the pieces of this one should be, in nanoseconds; undefined if it is not to be cut. */
  #lengthWithin(piece: Piece): number | undefined {
    const { count, span } = piece.density
    const length = Math.ceil((span / count) * this.#capacity * FILL)
    const maxRequests = (this.#deliveredPages + this.#walks) * MAX_REQUESTS_PER_PAGE
    const isCutting = this.#walks > 1 && this.#requestCount < maxRequests
    return isCutting && length > 0 && this.#lengthOf(piece) > length * MAX_LENGTHS
      ? length
      : undefined
  }

  /**
   * Cuts off the nearest piece; before that what lies farther than all walks are likely to come, which is asked for at once
   * where there is room: its page shows how to go on there.
   */
  async #cut(index: number, piece: Piece, length: number): Promise<void> {
    const { start, near = 0n, far, density, running } = piece
    this.#isCut = true
    const ahead = this.#walks - 1
    const isLong = this.#lengthOf(piece) > length * (ahead + MAX_LENGTHS)
    const cutOff = BigInt(isLong ? length * ahead : length)
    const cut = this.#init.forward ? near + cutOff : near - cutOff
    const farther = toPiece({ digest: start.digest }, cut, far, density)
    this.#pieces.splice(index, 1, toPiece(start, near, cut, density), farther)
    if (isLong && this.#hasRoomAt(index + 1)) {
      this.#ask(farther)
    }
    await running?.close()
  }

  #ask(piece: Piece): void {
    this.#requestCount++
    piece.running ??= new RunningWalk({ begin: walk }, this.#initOf(piece))
    piece.answered = this.#answer(piece, piece.running)
    piece.state = 'asked'
  }

  async #answer(piece: Piece, running: RunningWalk<MessagePage>): Promise<void> {
    try {
      const page = await running.ask()
      if (page === undefined) {
        throw new Error('a piece ended without a last page')
      }
      this.#peerId ??= page.peerId
      if (page.completeness === 'more') {
        this.#capacity = Math.max(this.#capacity, sizeOf(page))
        this.#pieces.splice(this.#pieces.indexOf(piece) + 1, 0, this.#restOf(piece, page))
      } else {
        await running.close()
      }
      piece.running = undefined
      piece.page = page
      piece.state = 'held'
    } catch (error) {
      piece.error = error
      piece.state = 'failed'
    }
  }

  /** What a page leaves of its piece; the same walk goes on with it unless it is cut. */
  #restOf(piece: Piece, { messages, position, protocol }: MessagePage): Piece {
    const { start, far, density, running } = piece
    const { last = start.last, ...rest } = decodePosition(position, start.digest)
    const isStrict = this.#strict.some((generation) => generation.protocol === protocol)
    if (!isStrict || last === undefined || messages.length === 0) {
      return { ...toPiece({ ...rest, last }, piece.near, far, density), running }
    }
    const count = density.count / 2 + messages.length
    const span = density.span / 2 + spanOf(messages)
    return { ...toPiece({ ...rest, last }, last.time, far, { count, span }), running }
  }

  #initOf({ start, near, far }: Piece): WalkInit {
    const { criteria, forward, servicePeers } = this.#init
    if (!this.#isCut) {
      return this.#init
    }
    const from = start.last === undefined ? near : undefined
    const [timeStart = criteria.timeStart, timeEnd = criteria.timeEnd] = forward
      ? [from, far]
      : [far, from]
    return {
      ...this.#init,
      servicePeers: preferring(servicePeers, this.#peerId),
      generations: this.#strict,
      criteria: { ...criteria, timeStart, timeEnd },
      position: start
    }
  }

  /** How long a piece is, in nanoseconds; where the range is open, as far as times go. */
  #lengthOf({ near = 0n, far }: Piece): number {
    const { criteria, forward } = this.#init
    const end = far ?? (forward ? (criteria.timeEnd ?? MAX_TIME) : (criteria.timeStart ?? 0n))
    return Number(forward ? end - near : near - end)
  }

  /** Generations by whose order pieces follow one another without a doubt. */
  get #strict(): WalkInit['generations'] {
    return this.#init.generations.filter(({ strictOrder }) => strictOrder)
  }
}

function toPiece(
  start: WalkPosition,
  near: bigint | undefined,
  far: bigint | undefined,
  density: Density
): Piece {
  return { start, near, far, density, state: 'idle' }
}

function sizeOf({ messages, rejected }: MessagePage): number {
  return messages.length + rejected.length
}

/** The time that messages take, in nanoseconds; without the longest pause if that is nearly all of it. */
function spanOf(messages: MessagePage['messages']): number {
  const times = messages.map(({ timestamp = 0n }) => timestamp)
  const pauses = times.slice(1).map((time, index) => Number(time - (times[index] ?? time)))
  const span = pauses.reduce((a, b) => a + b, 0)
  const rest = span - Math.max(...pauses)
  return rest > 0 && rest < span * MAX_SPAN_BESIDE_PAUSE ? rest : span
}

/** The same nodes, one of them before the others. */
function preferring(servicePeers: ServicePeers, peerId: string | undefined): ServicePeers {
  return {
    network: (signal) => servicePeers.network(signal),
    reach: async (signal) => await servicePeers.reach?.(signal),
    request: (peer, request, signal) => servicePeers.request(peer, request, signal),
    note: (peer, protocols, error) => servicePeers.note?.(peer, protocols, error),
    candidates: (protocols) =>
      [...servicePeers.candidates(protocols)].sort(
        (a, b) => Number(b.peerId === peerId) - Number(a.peerId === peerId)
      )
  }
}
