// Negentropy as nostr-tools has it, for comparison. It is no dependency: where it is not installed, NEGENTROPY names the file
// (`npm pack nostr-tools@2.25`, then package/lib/esm/nip77.js beside a node_modules that has @noble/hashes). nostr-tools has
// the client's side alone; the other one is here: it answers a list of ids with its own, as the protocol says.
import { fromHex, toHex } from 'waku-light/message'
import type { SyncId } from 'waku-light/wire'

interface Bytes {
  unwrap(): Uint8Array
}

interface Bound {
  readonly timestamp: number
  readonly id: Uint8Array
}

interface Vector {
  insert(timestamp: number, id: string): void
  seal(): void
  size(): number
  fingerprint(lower: number, upper: number): Uint8Array
  findLowerBound(lower: number, upper: number, bound: Bound): number
  getItem(index: number): Bound
}

interface Side {
  lastTimestampIn: number
  lastTimestampOut: number
  initiate(): string
  reconcile(
    message: string,
    onHave: (id: string) => void,
    onNeed: (id: string) => void
  ): string | null
  decodeTimestampIn(input: Input): number
  encodeBound(bound: Bound): Bytes
  splitRange(lower: number, upper: number, bound: Bound, output: Output): void
}

interface Module {
  readonly NegentropyStorageVector: new () => Vector
  readonly Negentropy: new (storage: Vector) => Side
}

/** One session of two sides. */
export interface Measured {
  readonly rounds: number
  readonly bytes: number
  readonly differences: number
  readonly ms: number
}

const ID_BYTES = 32
const FINGERPRINT_BYTES = 16
const VERSION = 0x61

/** What their reader reads from. */
class Input {
  #at = 0
  constructor(readonly bytes: Uint8Array) {}
  get length(): number {
    return this.bytes.length - this.#at
  }
  shift(): number {
    return this.bytes[this.#at++] ?? 0
  }
  take(count: number): Uint8Array {
    this.#at += count
    return this.bytes.subarray(this.#at - count, this.#at)
  }
  varint(): number {
    for (let value = 0; ; ) {
      const byte = this.shift()
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) {
        return value
      }
    }
  }
}

/** What their writer writes to. */
class Output {
  readonly parts: Uint8Array[] = []
  extend(bytes: Uint8Array | Bytes): void {
    this.parts.push(bytes instanceof Uint8Array ? bytes : bytes.unwrap().slice())
  }
  varint(value: number): void {
    const bytes = [value % 128]
    for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
      bytes.unshift((rest % 128) | 0x80)
    }
    this.extend(Uint8Array.from(bytes))
  }
}

/** The other side's answer. */
function answer(side: Side, storage: Vector, message: string): string | null {
  const input = new Input(fromHex(message).subarray(1))
  const output = new Output()
  side.lastTimestampIn = 0
  side.lastTimestampOut = 0
  let lower = 0
  let skipped: Bound | undefined
  while (input.length > 0) {
    const timestamp = side.decodeTimestampIn(input)
    const bound = { timestamp, id: input.take(input.varint()) }
    const mode = input.varint()
    const upper = storage.findLowerBound(lower, storage.size(), bound)
    const theirs = mode === 1 ? toHex(input.take(FINGERPRINT_BYTES)) : ''
    if (mode === 2) {
      input.take(input.varint() * ID_BYTES)
    }
    if (mode === 0 || (mode === 1 && theirs === toHex(storage.fingerprint(lower, upper)))) {
      skipped = bound
    } else {
      if (skipped !== undefined) {
        output.extend(side.encodeBound(skipped))
        output.varint(0)
        skipped = undefined
      }
      if (mode === 1) {
        side.splitRange(lower, upper, bound, output)
      } else {
        output.extend(side.encodeBound(bound))
        output.varint(2)
        output.varint(upper - lower)
        for (let index = lower; index < upper; index++) {
          output.extend(storage.getItem(index).id)
        }
      }
    }
    lower = upper
  }
  const bytes = output.parts.map(toHex).join('')
  return `${VERSION.toString(16)}${bytes}`
}

/** Lets negentropy reconcile two sets; undefined where there is none. */
export async function loadNegentropy(
  start: bigint
): Promise<((a: readonly SyncId[], b: readonly SyncId[]) => Measured) | undefined> {
  const name = process.env['NEGENTROPY'] ?? 'nostr-tools/nip77'
  let module: Module
  try {
    module = (await import(name)) as Module
  } catch {
    return undefined
  }
  const { Negentropy, NegentropyStorageVector } = module
  const storageOf = (ids: readonly SyncId[]): Vector => {
    const storage = new NegentropyStorageVector()
    for (const { timestamp, hash } of ids) {
      // milliseconds of the window: its varints have 31 bits
      storage.insert(Number((timestamp - start) / 1_000_000n), toHex(hash))
    }
    storage.seal()
    return storage
  }
  return (a, b) => {
    const [ours, theirs] = [storageOf(a), storageOf(b)]
    const [first, second] = [new Negentropy(ours), new Negentropy(theirs)]
    const found = new Set<string>()
    const startMs = performance.now()
    let bytes = 0
    let rounds = 0
    for (let message: string | null = first.initiate(); message !== null; rounds++) {
      const reply = answer(second, theirs, message) ?? ''
      bytes += (message.length + reply.length) / 2
      const add = (id: string): unknown => found.add(id)
      message = first.reconcile(reply, add, add)
    }
    return { rounds, bytes, differences: found.size, ms: performance.now() - startMs }
  }
}

/** What was measured of it elsewhere, on sets of the same kind; by entries and differences. */
export const PUBLISHED: Readonly<Record<string, string>> = {
  '100000/10': '14,000 B in 3 rounds',
  '100000/1': '1,800 B',
  '100000/0': '323 B',
  '10000/10': '6,900 B'
}
