import type {
  Archives,
  EntryRecord,
  Hashes,
  KnownMessage,
  Ledger,
  LookupRecord,
  PushRecord,
  WalkRecord
} from './ledger.ts'

const NOTHING: Hashes = new Set()

/**
 * Compares what was told with what the archives hold.
 *
 * @returns what is not as it was told, in words
 */
export function check(ledger: Ledger, archives: Archives): string[] {
  const { messages } = ledger
  const anywhere = union(archives.values())
  return [
    ...ledger.troubles,
    ...ledger.pushes.flatMap((push) => checkPush(push, ledger, archives, anywhere)),
    ...ledger.entries.flatMap((entry) => checkEntry(entry, anywhere)),
    ...ledger.walks.flatMap((walk) => checkWalk(walk, messages)),
    ...ledger.lookups.flatMap((lookup) => checkLookup(lookup, archives, anywhere)),
    ...checkArchives(ledger, anywhere)
  ]
}

function checkPush(
  { name, hash, status, relayPeerCount, stored, storedAt }: PushRecord,
  { messages, hasRestarts }: Ledger,
  archives: Archives,
  anywhere: Hashes
): string[] {
  if (hash === undefined) {
    return status === 'published' ? [`${name}: published without a hash`] : []
  }
  const found: string[] = []
  const isEphemeral = messages.get(hash)?.isEphemeral === true
  if (status === 'published' && !isEphemeral && !anywhere.has(hash)) {
    found.push(`${name}: published, and in no archive`)
  }
  if ((status === 'failed' || status === 'thrown') && anywhere.has(hash)) {
    found.push(`${name}: ${status}, and in an archive`)
  }
  const asked = storedAt === undefined ? anywhere : archives.get(storedAt)
  if (stored === true && asked?.has(hash) !== true) {
    found.push(`${name}: stored, and not in the archive that was asked`)
  }
  if (status === 'published' && (relayPeerCount ?? 0) > 0 && !hasRestarts && !isEphemeral) {
    const lacking = [...archives].filter(([, held]) => !held.has(hash))
    found.push(...lacking.map(([peerId]) => `${name}: relayed, and did not reach ${peerId}`))
  }
  return found
}

function checkEntry(
  { name, state, isRestamped, hashes, sent }: EntryRecord,
  anywhere: Hashes
): string[] {
  const out = hashes.filter((hash) => anywhere.has(hash))
  const found: string[] = []
  if ((state === 'published' || state === 'stored') && !sent.some((hash) => anywhere.has(hash))) {
    found.push(`${name}: entry is ${state}, and in no archive`)
  }
  if (state === 'queued' && !isRestamped && out.length > 0) {
    found.push(`${name}: entry is queued, and in an archive`)
  }
  if (state === 'rejected') {
    found.push(`${name}: entry is rejected, though there is nothing wrong with it`)
  }
  if (!isRestamped && (out.length > 1 || sent.length > 1)) {
    found.push(`${name}: entry was sent under ${Math.max(out.length, sent.length)} hashes`)
  }
  return found
}

function checkWalk(walk: WalkRecord, messages: ReadonlyMap<string, KnownMessage>): string[] {
  const { name, delivered, end, held, givenBy, count, isForward } = walk
  const found: string[] = []
  const once = new Set(delivered)
  if (once.size < delivered.length) {
    found.push(`${name}: delivers ${delivered.length - once.size} messages twice`)
  }
  for (const hash of once) {
    const message = messages.get(hash)
    if (message === undefined) {
      found.push(`${name}: delivers ${hash}, which nobody pushed`)
    } else if (!isAskedFor(walk, message)) {
      found.push(`${name}: delivers ${message.name}, which was not asked for`)
    } else if (message.isEphemeral) {
      found.push(`${name}: delivers ${message.name}, which no archive keeps`)
    }
  }
  found.push(...checkOrder(walk, messages))
  const last = messages.get(delivered.at(-1) ?? '')?.timestamp
  const required = union([common(held), ...givenBy.map((peerId) => held.get(peerId) ?? NOTHING)])
  const missing = [...required].filter((hash) => {
    const message = messages.get(hash)
    if (message === undefined || !isAskedFor(walk, message) || once.has(hash)) {
      return false
    }
    // Where a number was asked for, it is those that come first.
    return (
      count === undefined ||
      once.size < count ||
      (isForward ? message.timestamp < (last ?? 0n) : message.timestamp > (last ?? 0n))
    )
  })
  if (end === 'complete' && missing.length > 0) {
    found.push(`${name}: complete without ${missing.length} messages that were there before`)
  }
  return found
}

function isAskedFor(
  { contentTopics, timeStart, timeEnd }: WalkRecord,
  { contentTopic, timestamp }: KnownMessage
): boolean {
  return (
    contentTopics?.includes(contentTopic) !== false &&
    (timeStart === undefined || timestamp >= timeStart) &&
    (timeEnd === undefined || timestamp < timeEnd)
  )
}

function checkOrder(
  { name, delivered, isForward, order }: WalkRecord,
  messages: ReadonlyMap<string, KnownMessage>
): string[] {
  if (order === undefined) {
    return []
  }
  const rows = delivered.flatMap((hash) => {
    const message = messages.get(hash)
    return message === undefined ? [] : [{ hash, ...message }]
  })
  const isLess = (a: (typeof rows)[number], b: (typeof rows)[number]): boolean =>
    a.timestamp !== b.timestamp
      ? a.timestamp < b.timestamp
      : order === 'time' || (order === 'hash' ? a.hash < b.hash : a.digest <= b.digest)
  const index = rows.findIndex((row, at) => {
    const next = rows[at + 1]
    return next !== undefined && !(isForward ? isLess(row, next) : isLess(next, row))
  })
  return index === -1 ? [] : [`${name}: out of order after ${index + 1} messages`]
}

function checkLookup(
  { name, peerId, asked, found: given, held }: LookupRecord,
  archives: Archives,
  anywhere: Hashes
): string[] {
  const found: string[] = []
  const once = new Set(given)
  const now = peerId === undefined ? anywhere : (archives.get(peerId) ?? NOTHING)
  const before = peerId === undefined ? common(held) : (held.get(peerId) ?? NOTHING)
  if (once.size < given.length) {
    found.push(`${name}: finds a message twice`)
  }
  for (const hash of once) {
    if (!asked.includes(hash)) {
      found.push(`${name}: finds what was not asked for`)
    } else if (!now.has(hash)) {
      found.push(`${name}: finds ${hash}, and the archive does not have it`)
    }
  }
  const missing = asked.filter((hash) => before.has(hash) && !once.has(hash))
  return missing.length === 0
    ? found
    : [...found, `${name}: does not find ${missing.length} messages that were there before`]
}

/** Each name is one message, however often it was sent; entries of an outbox that may be restamped are more. */
function checkArchives({ messages, entries }: Ledger, anywhere: Hashes): string[] {
  const restamped = new Set(entries.filter((one) => one.isRestamped).map(({ name }) => name))
  const names = new Map<string, number>()
  const found: string[] = []
  for (const hash of anywhere) {
    const message = messages.get(hash)
    if (message === undefined) {
      found.push(`an archive holds ${hash}, which nobody pushed`)
    } else if (message.isEphemeral) {
      found.push(`${message.name}: ephemeral, and in an archive`)
    } else if (!restamped.has(message.name)) {
      names.set(message.name, (names.get(message.name) ?? 0) + 1)
    }
  }
  const doubled = [...names].filter(([, count]) => count > 1)
  return [...found, ...doubled.map(([name, count]) => `${name}: in the archives ${count} times`)]
}

function union(sets: Iterable<Hashes>): Hashes {
  return new Set([...sets].flatMap((set) => [...set]))
}

/** What all archives hold. */
export function common(archives: Archives): Hashes {
  const [first = NOTHING, ...others] = archives.values()
  return new Set([...first].filter((hash) => others.every((other) => other.has(hash))))
}
