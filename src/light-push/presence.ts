import { hasErrorCode } from '../errors.ts'
import type { PushSettings } from './options.ts'
import type { SealedMessage } from './outcome.ts'

/** What a store node may be off by that looks messages up by their time: 30 s, in nanoseconds. */
const TIME_SLACK = 30_000_000_000n

/**
 * Whether a store node has a message; undefined if none answers.
 *
 * @throws the signal's reason, and {@link ClosedError}
 */
export async function isPresent(
  { store, attemptTimeoutMs: timeoutMs }: PushSettings,
  contentTopic: string,
  { messageHash, pubsubTopic, timestamp }: SealedMessage,
  signal: AbortSignal
): Promise<boolean | undefined> {
  const within = {
    contentTopics: [contentTopic],
    pubsubTopic,
    timeStart: timestamp - TIME_SLACK,
    timeEnd: timestamp + TIME_SLACK
  }
  try {
    return (await store?.has([messageHash], { within, signal, timeoutMs }))?.[0]
  } catch (error) {
    signal.throwIfAborted()
    if (hasErrorCode(error, 'ERR_CLOSED')) {
      throw error
    }
    return undefined
  }
}
