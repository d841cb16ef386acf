import type { Random } from '../fuzz/random.ts'
import { rest, type World } from './crew.ts'
import type { Member } from './fleet.ts'

/** Sometimes nothing can be reached for a while. */
export async function darken({ fleet }: World, random: Random): Promise<void> {
  const isOut = random.chance(0.25)
  const atMs = random.int(500)
  const forMs = 200 + random.int(500)
  if (isOut) {
    await rest(atMs)
    for (const { proxy } of fleet.members) {
      proxy.refuseAll(true)
      proxy.cutAll()
    }
    await rest(forMs)
    for (const { proxy } of fleet.members) {
      proxy.refuseAll(false)
    }
  }
}

/** What befalls one node and the way to it, until the storm is over. */
export async function rage(
  world: World,
  member: Member,
  random: Random,
  isOver: () => boolean
): Promise<void> {
  const { proxy, file } = member
  const isCalm = random.chance(0.3)
  while (!isOver()) {
    await rest(80 + random.int(400))
    const event = isCalm
      ? 'nothing'
      : random.pick(['nothing', 'cut', 'freeze', 'refuse', 'restart'] as const)
    const forMs = random.int(300)
    if (isOver() || event === 'nothing') {
      continue
    }
    if (event === 'cut') {
      proxy.cutAll()
    } else if (event === 'freeze') {
      proxy.freezeAll()
    } else if (event === 'refuse') {
      proxy.refuseAll(true)
      await rest(forMs)
      proxy.refuseAll(false)
    } else if (file !== undefined && world.fleet.mayRestart) {
      world.ledger.hasRestarts = true
      await world.fleet.stop(member)
      await rest(forMs)
      await world.fleet.start(member)
    }
  }
}
