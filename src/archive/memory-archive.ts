import { ClosedError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import type { StoredMessage } from '../store/page.ts'
import { Additions } from './additions.ts'
import type { Archive, ArchiveCallOptions } from './archive.ts'
import { compareOrder, timeOf, toArchiveKeys, toHashes, toPutInput } from './entries.ts'
import { toPruneLimits } from './limits.ts'
import { type Selection, toSelection } from './selection.ts'
import { entryAfter, insertSorted, rank } from './sorted.ts'

/**
 * An archive in memory: for tests, for Node, and for apps that keep nothing.
 *
 * @example
 * ```ts
 * const archive = createMemoryArchive()
 * await archive.putMany(page.messages)
 * for await (const message of archive.walk({ direction: 'backward' })) show(message)
 * ```
 */
export function createMemoryArchive(): Archive {
  const additions = new Additions()
  const byHash = new Map<string, StoredMessage>()
  const marks = new Map<string, unknown>()
  const sorted: StoredMessage[] = []
  let isClosed = false

  function check({ signal }: ArchiveCallOptions = {}): void {
    if (isClosed) {
      throw new ClosedError('the archive')
    }
    signal?.throwIfAborted()
  }

  function setMarks(entries: readonly [string, unknown][]): void {
    for (const [key, value] of entries) {
      marks.set(key, value)
      if (value === undefined) {
        marks.delete(key)
      }
    }
  }

  async function* walk(
    selection: Selection,
    options: ArchiveCallOptions
  ): AsyncGenerator<StoredMessage> {
    check(options)
    // By place, not by index: there may be additions between any two steps.
    for (let entry = entryAfter(sorted, selection, undefined); entry !== undefined; ) {
      if (selection.matches(entry)) {
        yield entry
        check(options)
      }
      entry = entryAfter(sorted, selection, entry)
    }
  }

  return {
    async putMany(messages, options = {}) {
      check(options)
      const input = toPutInput(messages, options)
      const added: StoredMessage[] = []
      const fresh: StoredMessage[] = []
      for (const [index, entry] of input.entries.entries()) {
        const hash = toHex(entry.messageHash)
        if (!byHash.has(hash)) {
          byHash.set(hash, entry)
          fresh.push(entry)
          added.push(input.messages[index] as StoredMessage)
        }
      }
      insertSorted(sorted, fresh.sort(compareOrder))
      setMarks(input.marks)
      additions.announce(fresh)
      return added
    },
    async has(hashes, options) {
      check(options)
      return toHashes(hashes).map((hash) => byHash.has(toHex(hash)))
    },
    async get(hashes, options) {
      check(options)
      return toHashes(hashes).map((hash) => byHash.get(toHex(hash)))
    },
    walk: (criteria, options = {}) => walk(toSelection(criteria), options),
    walkKeys: (criteria, options = {}) => toArchiveKeys(walk(toSelection(criteria), options)),
    async count(options) {
      check(options)
      return sorted.length
    },
    async prune(limits, options) {
      check(options)
      const { before, maxCount } = toPruneLimits(limits)
      const old = before === undefined ? 0 : rank(sorted, (entry) => timeOf(entry) < before)
      const removed = sorted.splice(0, Math.max(old, sorted.length - maxCount))
      for (const { messageHash } of removed) {
        byHash.delete(toHex(messageHash))
      }
      return removed.length
    },
    async getMark(key, options) {
      check(options)
      return structuredClone(marks.get(key))
    },
    async setMark(key, value, options) {
      check(options)
      setMarks(toPutInput([], { marks: { [key]: value } }).marks)
    },
    subscribe(listener, options) {
      check(options)
      return additions.subscribe(listener, options)
    },
    async close() {
      isClosed = true
      additions.clear()
      byHash.clear()
      marks.clear()
      sorted.length = 0
    }
  }
}
