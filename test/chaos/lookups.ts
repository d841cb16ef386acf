import { hasErrorCode } from 'waku-light/errors'
import { fromHex, toHex } from 'waku-light/message'
import type { StoredMessage } from 'waku-light/store'
import type { Random } from '../fuzz/random.ts'
import { collect } from '../helpers/collect.ts'
import { type Crew, shuffled, type World } from './crew.ts'
import { noteDelivered } from './walks.ts'
import { textOf } from './watch.ts'
import { toChosenCriteria } from './ways.ts'

/** Looks for some messages by their hashes, and one that nobody made. */
export async function lookUpOnce(
  { fleet, ledger, watch, ...rest }: World,
  crew: Crew,
  random: Random,
  name: string
): Promise<void> {
  const known = shuffled(random, [...ledger.messages.keys()]).slice(0, 1 + random.int(20))
  const asked = [...known, toHex(random.bytes(32))]
  const hashes = asked.map(fromHex)
  const peerId = random.chance(0.5) ? random.pick(fleet.peerIds) : undefined
  const timeoutMs = 300 + random.int(1_200)
  const options = {
    timeoutMs,
    ...(peerId !== undefined && { peerId }),
    // For nodes, or clients, that do not look up hashes.
    within: {}
  }
  const isPresence = random.chance(0.5)
  const held = await fleet.held()
  // Where hashes are not looked up, history is searched page by page, each with a deadline of its own.
  const limitMs = crew.isLegacy ? timeoutMs * 10 : timeoutMs
  const found: string[] = []
  const call = isPresence
    ? crew.store.has(hashes, options).then((answers) => {
        found.push(...asked.filter((_, index) => answers[index]))
      })
    : collect(crew.store.lookup(hashes, options)).then((messages) => {
        for (const message of messages) {
          noteDelivered({ fleet, ledger, watch, ...rest }, name, message, found)
        }
      })
  const outcome = await watch.settled(name, limitMs, call)
  ledger.counts.add(`look-ups: ${outcome.is === 'value' ? 'answered' : 'threw'}`)
  if (outcome.is === 'value') {
    ledger.lookups.push({ name, peerId, asked, found, held })
  }
}

/** Asks for the newest few. */
export async function lastOnce(
  world: World,
  crew: Crew,
  random: Random,
  name: string
): Promise<void> {
  const { fleet, ledger, watch } = world
  const { contentTopics } = toChosenCriteria(random, ledger)
  const count = 1 + random.int(30)
  const timeoutMs = 300 + random.int(1_200)
  const held = await fleet.held()
  const delivered: string[] = []
  const call = crew.store.last({ contentTopics }, count, { timeoutMs })
  const outcome = await watch.settled(name, timeoutMs * 10, call)
  if (outcome.is === 'value') {
    outcome.value.toReversed().forEach((message: StoredMessage) => {
      noteDelivered(world, name, message, delivered)
    })
  } else if (outcome.is === 'error' && !hasErrorCode(outcome.error, 'ERR_INCOMPLETE_HISTORY')) {
    watch.trouble(`${name}: ends without a position: ${textOf(outcome.error)}`)
  }
  ledger.walks.push({
    name: `${name} last ${count}`,
    contentTopics,
    isForward: false,
    order: crew.isLegacy ? 'digest' : 'hash',
    delivered,
    end: outcome.is === 'value' ? 'complete' : 'threw',
    held,
    givenBy: [],
    count,
    resumed: 0
  })
}
