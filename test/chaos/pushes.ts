import { fromMilliseconds, toHex } from 'waku-light/message'
import type { Random } from '../fuzz/random.ts'
import { type Crew, know, makeMessage, rest, type World } from './crew.ts'

/** Pushes once, with options of the seed, and writes down what it was told. */
export async function pushOnce(
  { fleet, ledger, watch }: World,
  crew: Crew,
  random: Random,
  name: string
): Promise<void> {
  const timestamp = fromMilliseconds(Math.floor(Date.now() / 50) * 50) // many of one time
  const message = {
    ...makeMessage(random, name),
    timestamp,
    ...(random.chance(0.1) && { ephemeral: true })
  }
  const known = know(ledger, name, message)
  const timeoutMs = 300 + random.int(1_200)
  const storedAt = random.chance(0.5) ? random.pick(fleet.peerIds) : undefined
  const giveUp = new AbortController()
  const { signal } = giveUp
  const options = {
    timeoutMs,
    signal,
    redundancy: 1 + random.int(3),
    retry: random.chance(0.8),
    ...(random.chance(0.4) && { confirm: 'stored' as const })
  }
  const isAborted = random.chance(0.1)
  const abortMs = random.int(300)
  const aborting = isAborted
    ? rest(abortMs).then(() => giveUp.abort(new Error('given up')))
    : undefined
  const client = storedAt === undefined ? crew.lightPush : crew.withStoreAt(storedAt)
  const outcome = await watch.settled(
    name,
    timeoutMs,
    client.push(message, {
      ...options,
      onProgress: ({ type, detail }) => {
        if (type === 'light-push:sealed' && toHex(detail.messageHash) !== known) {
          watch.trouble(`${name}: sealed with another hash`)
        }
      }
    }),
    signal
  )
  await aborting
  if (outcome.is === 'value') {
    const { status, relayPeerCount, stored, messageHash, attempts } = outcome.value
    if (messageHash !== undefined && toHex(messageHash) !== known) {
      watch.trouble(`${name}: has another hash in its result`)
    }
    if (status !== 'failed' && attempts.length === 0) {
      watch.trouble(`${name}: ${status} without a try`)
    }
    ledger.pushes.push({ name, hash: known, status, relayPeerCount, stored, storedAt })
  } else if (outcome.is === 'error') {
    ledger.pushes.push({ name, hash: known, status: 'thrown' })
  }
}
