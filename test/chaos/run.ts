// Timing is that of real sockets: a seed repeats every choice (faults, calls, options), and not the exact interleaving of
// what comes of them. A violation that a seed showed once may take several runs to be seen again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '../../service-node/test/helpers/wait-for.ts'
import { Random } from '../fuzz/random.ts'
import { check } from './check.ts'
import { type Crew, createCrew, rest, type World } from './crew.ts'
import { Fleet } from './fleet.ts'
import { Follower } from './follower.ts'
import { makeHistory } from './history.ts'
import { Ledger } from './ledger.ts'
import { lastOnce, lookUpOnce } from './lookups.ts'
import { ChaosOutbox } from './outboxes.ts'
import { pushOnce } from './pushes.ts'
import { recover } from './recovery.ts'
import { darken, rage } from './storm.ts'
import { walkOnce } from './walks.ts'
import { textOf, Watch } from './watch.ts'

/** How long faults last, in milliseconds: what is under way then is waited for. */
const STORM_MS = 1_100

/** Calls of one client at once, and calls after one another in each lane. */
const LANES = 4
const MAX_CALLS = 6

/** Within this, archives come to hold what they are to hold, and sockets are closed, in milliseconds. */
const SETTLE_MS = 4_000

/** What {@link LightNode.close} takes at the most, in milliseconds. */
const CLOSE_MS = 2_500

/** What a run has shown. */
export interface ChaosReport {
  readonly ledger: Ledger
  /** What is not as it was told; empty if all is well. */
  readonly violations: readonly string[]
}

/**
 * Runs one seed: service nodes behind proxies, clients that push and walk, faults, then calm, and what is true of it all.
 *
 * @throws an error that names the seed, if the nodes cannot be had at all
 */
export async function chaos(seed: number): Promise<ChaosReport> {
  const folder = mkdtempSync(join(tmpdir(), 'waku-light-chaos-'))
  const ledger = new Ledger()
  const onUnhandled = (error: unknown): void => {
    ledger.troubles.push(`nobody handles ${textOf(error)}`)
  }
  process.on('unhandledRejection', onUnhandled)
  process.on('uncaughtException', onUnhandled)
  let fleet: Fleet | undefined
  try {
    const random = new Random(seed)
    fleet = await Fleet.start(random, folder)
    const world = { fleet, ledger, watch: new Watch(ledger) }
    await live(world, random)
    await waitFor(
      'archives',
      async () => check(ledger, await world.fleet.held()).length === 0,
      SETTLE_MS
    ).catch(() => undefined) // what is wrong is told below
    const archives = await fleet.end()
    return { ledger, violations: check(ledger, archives) }
  } catch (cause) {
    throw new Error(`--seed ${seed}: ${textOf(cause)}`, { cause })
  } finally {
    await fleet?.close()
    process.off('unhandledRejection', onUnhandled)
    process.off('uncaughtException', onUnhandled)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From the first message to the last socket that is closed. */
async function live(world: World, random: Random): Promise<void> {
  const { fleet, ledger, watch } = world
  const timeStart = await makeHistory(world, random)
  const crews = [
    await createCrew('first', random, fleet),
    ...(random.chance(0.6) ? [await createCrew('second', random, fleet)] : [])
  ]
  const [first] = crews as [Crew]
  const doomed = random.chance(0.5) ? crews[1] : undefined
  const fork = (): Random => new Random(random.int(2 ** 32))
  const follower = random.chance(0.4) ? new Follower(world, first, fork(), timeStart) : undefined
  const outbox = random.chance(0.6) ? new ChaosOutbox(world, first, fork()) : undefined

  let isClosed = false
  const startedAt = performance.now()
  const isOver = (): boolean => performance.now() - startedAt > STORM_MS
  const raging = fleet.members.map((member) => rage(world, member, fork(), isOver))
  const calls = crews.flatMap((crew) =>
    Array.from({ length: LANES }, (_, lane) =>
      work(world, crew, fork(), lane, () => isOver() || (crew === doomed && isClosed))
    )
  )
  const closeAt = random.int(STORM_MS)
  const closing =
    doomed &&
    rest(closeAt).then(async () => {
      isClosed = true // what is under way ends by it
      await close(world, doomed)
    })
  await Promise.all([...raging, darken(world, fork()), outbox?.run(first.name)])
  for (const { proxy } of fleet.members) {
    proxy.calm()
  }
  await fleet.join()
  await Promise.all([...calls, closing])

  for (const crew of crews.filter((one) => one !== doomed)) {
    await recover(world, crew, fork())
  }
  await Promise.all([follower?.finish(), outbox?.finish()])
  await Promise.all(crews.map((crew) => close(world, crew)))
  const open = (): number => fleet.members.reduce((sum, { proxy }) => sum + proxy.openCount, 0)
  await waitFor('sockets that are closed', () => open() === 0, SETTLE_MS).catch(() =>
    watch.trouble(`${open()} sockets are open after all light nodes were closed`)
  )
  for (const { proxy } of fleet.members) {
    for (const [name, count] of Object.entries(proxy.mischief)) {
      ledger.counts.add(`faults: ${name}`, count)
    }
  }
  ledger.counts.add('faults: restarts', fleet.restarts)
}

/** One call after the other. */
async function work(
  world: World,
  crew: Crew,
  random: Random,
  lane: number,
  isOver: () => boolean
): Promise<void> {
  for (let index = 0; index < MAX_CALLS; index++) {
    const own = new Random(random.int(2 ** 32))
    const kind = random.next()
    const restMs = random.int(40)
    if (isOver()) {
      return
    }
    const name = `${crew.name} ${lane}.${index}`
    if (kind < 0.45) {
      await pushOnce(world, crew, own, `${name} push`)
    } else if (kind < 0.8) {
      await walkOnce(world, crew, own, `${name} walk`)
    } else if (kind < 0.92) {
      await lookUpOnce(world, crew, own, `${name} look-up`)
    } else {
      await lastOnce(world, crew, own, `${name} walk`)
    }
    await rest(restMs)
  }
}

async function close({ watch }: World, { name, node }: Crew): Promise<void> {
  await watch.settled(`${name}: closing`, CLOSE_MS, node.close())
  if (node.connectedPeers.length > 0) {
    watch.trouble(`${name}: is connected after it was closed`)
  }
}
