import { toHex } from '../lib/bytes.ts'
import { withSignals } from '../lib/deadline.ts'
import type { StoredMessage } from '../store/page.ts'
import type { PutInput } from './entries.ts'

/** Calls are gathered up to this many messages; a call with more goes alone. */
const GROUP_MESSAGES = 2_000

/** Stores what is given, in one transaction; returns the hashes of the entries that are new, the very objects. */
export type Commit = (
  entries: readonly StoredMessage[],
  marks: readonly (readonly [string, unknown])[]
) => Promise<ReadonlySet<Uint8Array>>

interface Put extends PutInput {
  readonly signal: AbortSignal
  readonly resolve: (added: StoredMessage[]) => void
  readonly reject: (error: unknown) => void
}

/** What {@link createGroupCommit} makes. */
export interface GroupCommit {
  /**
   * Stores the input of one call.
   *
   * @param signals - any of them ends the call; what is not begun yet is not stored then
   * @returns the messages that are new
   */
  put(input: PutInput, signals: readonly (AbortSignal | undefined)[]): Promise<StoredMessage[]>
  /** Settles once all puts so far have. */
  idle(): Promise<void>
}

/**
 * Gathers the puts that come while a transaction is under way into the next one. A transaction takes two milliseconds, be it
 * for one message or for twenty.
 */
export function createGroupCommit(commit: Commit): GroupCommit {
  const waiting: Put[] = []
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    await Promise.resolve() // those of the same turn go together
    while (waiting.length > 0) {
      await settle(take(waiting), commit)
    }
    running = undefined
  }

  return {
    put: (input, signals) =>
      withSignals(signals, async (signal) => {
        const { promise, resolve, reject } = Promise.withResolvers<StoredMessage[]>()
        waiting.push({ ...input, signal, resolve, reject })
        running ??= run()
        return await promise
      }),
    idle: async () => await running
  }
}

function take(waiting: Put[]): Put[] {
  let size = 0
  const end = waiting.findIndex(({ entries }, index) => {
    size += entries.length
    return index > 0 && size > GROUP_MESSAGES
  })
  const group = waiting.splice(0, end === -1 ? waiting.length : end)
  return group.filter(({ signal }) => !signal.aborted)
}

async function settle(group: readonly Put[], commit: Commit): Promise<void> {
  if (group.length === 0) {
    return
  }
  // The first of those with the same hash is the one that counts.
  const unique = new Map<string, StoredMessage>()
  for (const entry of group.flatMap(({ entries }) => entries)) {
    const hash = toHex(entry.messageHash)
    unique.set(hash, unique.get(hash) ?? entry)
  }
  try {
    const marks = group.flatMap((put) => put.marks)
    const added = await commit([...unique.values()], marks)
    for (const { messages, entries, resolve } of group) {
      resolve(messages.filter((_, index) => added.has(entries[index]?.messageHash as Uint8Array)))
    }
  } catch (error) {
    // One may be too large for what room there is; the others are not to suffer for it.
    for (const put of group) {
      if (group.length === 1) {
        put.reject(error)
      } else {
        await settle([put], commit)
      }
    }
  }
}
