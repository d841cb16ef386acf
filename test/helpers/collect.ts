import { type ErrorCode, hasErrorCode, isWakuLightError } from 'waku-light/errors'
import { toHex, type WakuMessage } from 'waku-light/message'

/** All that an iteration gives. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) {
    all.push(item)
  }
  return all
}

/** What something rejects with, or throws; fails if it does neither. */
export async function failure(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** The error class of a code. */
type ErrorOf<Code extends ErrorCode> = typeof hasErrorCode<Code> extends (
  error: unknown,
  code: Code
) => error is infer E
  ? E
  : never

/** The error with a certain code that something rejects with or throws; fails if it is another, or none. */
export async function failureOf<Code extends ErrorCode>(
  code: Code,
  run: () => unknown
): Promise<ErrorOf<Code>> {
  const error = await failure(run)
  if (!hasErrorCode(error, code)) {
    throw new Error(
      `${code} was expected, not ${isWakuLightError(error) ? error.code : String(error)}`,
      { cause: error }
    )
  }
  return error
}

/** The message hashes, as text. */
export function hashesOf(messages: readonly { readonly messageHash: Uint8Array }[]): string[] {
  return messages.map(({ messageHash }) => toHex(messageHash))
}

/** A message with a payload of its own. */
export function messageAt(
  timestamp: bigint | undefined,
  text: string,
  contentTopic = '/app/22/a/proto'
): WakuMessage {
  return {
    payload: new TextEncoder().encode(text),
    contentTopic,
    ...(timestamp === undefined ? undefined : { timestamp })
  }
}

const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } })
  .process?.env

/** Seed and number of runs of the properties in a file; said aloud, so that a failure can be repeated with `FC_SEED`. */
export const PROPERTY = {
  seed: Number(environment?.['FC_SEED'] ?? Date.now() & 0x7fffffff),
  factor: Number(environment?.['FC_FACTOR'] ?? 1)
}
