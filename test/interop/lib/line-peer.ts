import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

const READY_TIMEOUT_MS = 20_000
const CALL_TIMEOUT_MS = 15_000
const STOP_TIMEOUT_MS = 8_000

/** A program that is driven by JSON lines: a foreign peer in a process of its own. */
export class LinePeer<Ready> {
  readonly ready: Ready
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>
  readonly #exited: Promise<number | null>
  #lastId = 0

  private constructor(
    child: ChildProcessByStdio<Writable, Readable, null>,
    lines: AsyncIterator<string>,
    exited: Promise<number | null>,
    ready: Ready
  ) {
    this.#child = child
    this.#lines = lines
    this.#exited = exited
    this.ready = ready
  }

  /** Starts the program and waits for its first line. It ends when its stdin does, so it does not outlive this process. */
  static async start<Ready>(command: string, args: readonly string[]): Promise<LinePeer<Ready>> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', stderr()] })
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    exited.catch(() => undefined)
    child.stdin.on('error', () => undefined)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    try {
      const first = await within(READY_TIMEOUT_MS, `${command} is ready`, next(lines))
      return new LinePeer(child, lines, exited, JSON.parse(first) as Ready)
    } catch (error) {
      child.kill('SIGKILL')
      await exited
      throw error
    }
  }

  /**
   * Sends a command.
   *
   * @throws {@link PeerError} with the program's own text
   */
  async call<Result>(cmd: string, args: object = {}): Promise<Result> {
    const id = ++this.#lastId
    this.#child.stdin.write(`${JSON.stringify({ id, cmd, ...args })}\n`)
    const line = await within(CALL_TIMEOUT_MS, `${cmd} is answered`, next(this.#lines))
    const answer = JSON.parse(line) as { id: number; result: Result; error?: string }
    if (answer.id !== id) {
      throw new Error(`the answer to ${cmd} is to another command`)
    }
    if (answer.error !== undefined) {
      throw new PeerError(answer.error)
    }
    return answer.result
  }

  /** Ends the program; resolves to its exit code. Kills it if it takes too long. */
  async close(): Promise<number | null> {
    this.#child.stdin.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    try {
      return await this.#exited
    } finally {
      clearTimeout(timer)
    }
  }
}

/** What a foreign peer says of a command that failed. */
class PeerError extends Error {}

/** The text with which a call to a foreign peer failed. */
export async function errorOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    if (error instanceof PeerError) {
      return error.message
    }
    throw error
  }
  throw new Error('the call did not fail')
}

// Each orderly end of go-waku logs an error that means nothing.
function stderr(): 'inherit' | 'ignore' {
  return process.env.VERBOSE === undefined ? 'ignore' : 'inherit'
}

async function next(lines: AsyncIterator<string>): Promise<string> {
  const { done, value } = await lines.next()
  if (done === true) {
    throw new Error('the peer has ended')
  }
  return value
}

async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${timeoutMs} ms: ${what}`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
