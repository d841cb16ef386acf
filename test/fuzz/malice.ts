import type { Stream } from '@libp2p/interface'
import { CORPUS } from './corpus.ts'
import { concat, framed, hugeVarint, mutate, split } from './mutate.ts'
import type { Random } from './random.ts'

/** What a far side needs to know to be nasty in time. */
export interface Malice {
  readonly random: Random
  readonly stream: Stream
  /** What an honest node would answer, without its length. */
  readonly body: Uint8Array<ArrayBuffer>
  /** Called where nothing more will come: somebody has to give up. */
  readonly onSilence: () => void
  /** Breaks the whole connection. */
  readonly breakOff: () => void
}

/** Does something with a stream; resolves with how many bytes went out. */
type Script = (malice: Malice) => Promise<number>

/** More than any reader buffers. A peer that is not cut off before ends by itself. */
export const ENDLESS_BYTES = 1024 * 1024

/** After that much, the other side gets its turn. */
const TURN_BYTES = 64 * 1024

/** Scripts that never say a whole frame: the reader has to cut them off. */
export const FRAMELESS: readonly string[] = ['endless bytes', 'endless length']

/** All scripts, by name; the honest ones count twice, so that something works now and then. */
export const SCRIPTS: Readonly<Record<string, Script>> = {
  honest: ({ stream, body, random }) => say(random, stream, framed(body)),
  'honest, and open': ({ stream, body, random }) => say(random, stream, framed(body), false),
  'mutated body': ({ stream, body, random }) =>
    say(random, stream, framed(mutate(random, body, random.pick(CORPUS)))),
  'mutated frame': (malice) =>
    sayAndEnd(malice, mutate(malice.random, framed(malice.body), malice.random.pick(CORPUS))),
  'recorded frame': ({ stream, random }) => say(random, stream, framed(random.pick(CORPUS))),
  'frame and more': ({ stream, body, random }) =>
    say(random, stream, concat(framed(body), random.pick(CORPUS))),
  'empty frame': ({ stream, random }) => say(random, stream, Uint8Array.of(0)),
  'huge length': (malice) =>
    sayAndEnd(
      malice,
      concat(hugeVarint(malice.random), malice.random.bytes(malice.random.int(99)))
    ),
  truncated: (malice) => {
    const whole = framed(malice.body)
    return sayAndEnd(malice, whole.slice(0, malice.random.int(whole.length)))
  },
  'endless bytes': ({ stream, random }) => flood(stream, random.bytes(10_000).fill(0xff, 0, 3)),
  'endless length': ({ stream }) => flood(stream, new Uint8Array(5000).fill(0x80)),
  'endless empty frames': ({ stream }) => flood(stream, new Uint8Array(5000)),
  'endless frames': ({ stream, body }) =>
    flood(stream, concat(...Array.from({ length: 20 }, () => framed(body)))),
  reset: async ({ stream }) => {
    stream.abort(new Error('reset by the peer'))
    return 0
  },
  closed: async ({ stream }) => {
    await stream.close()
    return 0
  },
  silence: async ({ onSilence }) => {
    onSilence()
    return 0
  },
  'connection lost': async ({ breakOff }) => {
    breakOff()
    return 0
  }
}

/** Names of {@link SCRIPTS}. */
export const SCRIPT_NAMES: readonly string[] = Object.keys(SCRIPTS)

/** Says something in pieces, then closes. */
async function say(
  random: Random,
  stream: Stream,
  bytes: Uint8Array<ArrayBuffer>,
  closes = true
): Promise<number> {
  const isSlow = random.chance(0.3)
  for (const chunk of split(random, bytes)) {
    await send(stream, chunk)
    for (let turns = isSlow ? random.int(20) : 0; turns > 0; turns--) {
      await Promise.resolve()
    }
  }
  if (closes) {
    await stream.close()
  }
  return bytes.length
}

/** Says what may not be a whole frame, and ends it one way or the other, or leaves the reader waiting. */
async function sayAndEnd(malice: Malice, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const { random, stream, onSilence } = malice
  const length = await say(random, stream, bytes, false)
  switch (random.int(3)) {
    case 0:
      await stream.close()
      break
    case 1:
      stream.abort(new Error('reset by the peer'))
      break
    default:
      onSilence()
  }
  return length
}

/** Sends for as long as it is read, up to a bound: bytes that happen to begin a frame within the limits are waited for. */
async function flood(stream: Stream, chunk: Uint8Array): Promise<number> {
  let sent = 0
  while (sent < ENDLESS_BYTES && stream.status === 'open') {
    await send(stream, chunk)
    sent += chunk.length
    if (sent % TURN_BYTES < chunk.length) {
      await new Promise((resolve) => setTimeout(resolve)) // the connection passes data on in turns of its own
    }
  }
  stream.abort(new Error('reset by the peer'))
  return sent
}

async function send(stream: Stream, chunk: Uint8Array): Promise<void> {
  if (!stream.send(chunk)) {
    await stream.onDrain()
  }
}
