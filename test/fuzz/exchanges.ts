import type { Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { toHex } from 'waku-light/message'
import { answer, exchange } from '../../src/transport/exchange.ts'
import { connectInMemory, PROTOCOL } from '../transport/helpers/memory-connection.ts'
import { CORPUS } from './corpus.ts'
import { ENDLESS_BYTES, FRAMELESS, SCRIPT_NAMES, SCRIPTS } from './malice.ts'
import type { Random } from './random.ts'
import { always, settled } from './watch.ts'

/** Largest answer that is read, in bytes: that of a push. */
const MAX_BYTES = 64 * 1024

/** Beyond that, the frame that is being read and a yamux window may be under way when a peer is cut off, in bytes. */
const MARGIN_BYTES = 512 * 1024

/**
 * Asks a far side that does to each stream what it likes, several times on one connection: each question ends, with an
 * answer or an error of this package, and afterwards the connection works as before.
 *
 * @returns how many frames were fed
 */
export async function fuzzExchange(random: Random): Promise<number> {
  const body = random.pick(CORPUS)
  const reason = new Error('given up')
  let script = 'honest'
  let giveUp = new AbortController()
  const serve = async (stream: Stream): Promise<void> => {
    const name = script
    if (!random.chance(0.1)) {
      await lpStream(stream).read()
    }
    const sent = await SCRIPTS[name]?.({
      random,
      stream,
      body,
      onSilence: () => giveUp.abort(reason),
      breakOff: () => memory.breakOff()
    })
    // After a whole answer, what comes is read and thrown away for as long as the stream lingers.
    always(
      !FRAMELESS.includes(name) || (sent ?? 0) <= MAX_BYTES + MARGIN_BYTES,
      `a peer that sends without end (${name}) was read for ${sent} of ${ENDLESS_BYTES} bytes`
    )
  }
  let failure: Error | undefined
  const memory = connectInMemory((stream) =>
    serve(stream).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('a peer that sends')) {
        failure = error
      }
      stream.abort(new Error('the script is over'))
    })
  )
  const request = { protocols: [PROTOCOL], encode: () => body, maxResponseBytes: MAX_BYTES }
  const count = 1 + random.int(12)
  try {
    for (let index = 0; index < count; index++) {
      script = random.pick(SCRIPT_NAMES)
      giveUp = new AbortController()
      const call = exchange(memory.connection, request, giveUp.signal)
      await settled(`an exchange, ${script},`, call, reason)
      if (script === 'connection lost') {
        return index + 1
      }
    }
    script = 'honest'
    const probe = await settled('a probe', exchange(memory.connection, request, neverAborted()))
    always(
      'value' in probe && toHex(probe.value.bytes) === toHex(body),
      'the connection is of no use any more'
    )
    if (failure !== undefined) {
      throw failure
    }
    always(memory.connection.streams.length <= 16, 'streams are left open')
    return count + 1
  } finally {
    await memory.close()
  }
}

/** Takes a stream that nobody asked for, with whatever comes on it: it ends, and is answered or refused in kind. */
export async function fuzzAnswer(random: Random): Promise<number> {
  const reason = new Error('given up')
  const giveUp = new AbortController()
  const script = random.pick(SCRIPT_NAMES.filter((name) => name !== 'connection lost'))
  const memory = connectInMemory((stream) =>
    settled(
      `an answer, ${script},`,
      answer(stream, MAX_BYTES, (bytes) => bytes, giveUp.signal),
      reason
    ).then(done.resolve, done.reject)
  )
  const done = Promise.withResolvers<unknown>()
  try {
    const stream = await memory.connection.newStream([PROTOCOL])
    await SCRIPTS[script]?.({
      random,
      stream,
      body: random.pick(CORPUS),
      onSilence: () => giveUp.abort(reason),
      breakOff: () => undefined
    }).catch(() => undefined)
    await done.promise
    return 1
  } finally {
    await memory.close()
  }
}

function neverAborted(): AbortSignal {
  return new AbortController().signal
}
