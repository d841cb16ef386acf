import type { Random } from '../fuzz/random.ts'
import { type Crew, know, makeMessage, type World } from './crew.ts'
import { type Outcome, textOf } from './watch.ts'

/** Ample, where there are no faults; in milliseconds. */
const CALM_MS = 5_000

/** Once there are no more faults: a push gets out, a walk comes to its end. */
export async function recover(world: World, crew: Crew, random: Random): Promise<void> {
  const { ledger, watch } = world
  const name = `${crew.name} after the storm`
  const message = {
    ...makeMessage(random, name),
    timestamp: BigInt(Date.now()) * 1_000_000n
  }
  const hash = know(ledger, name, message)
  const pushed = await watch.settled(
    name,
    CALM_MS,
    crew.lightPush.push(message, { timeoutMs: CALM_MS })
  )
  const result = pushed.is === 'value' ? pushed.value : undefined
  if (result?.status !== 'published') {
    watch.trouble(`${name}: a push is ${result?.status}: ${told(pushed, result?.attempts)}`)
  } else {
    ledger.pushes.push({ name, hash, status: 'published', relayPeerCount: result.relayPeerCount })
  }
  const walked = await watch.settled(name, CALM_MS, crew.store.last({}, 50, { timeoutMs: CALM_MS }))
  if (walked.is !== 'value') {
    watch.trouble(`${name}: a walk does not end: ${told(walked)}`)
  }
}

function told(outcome: Outcome<unknown>, attempts: readonly { error?: unknown }[] = []): string {
  const own = outcome.is === 'error' ? [outcome.error] : []
  return [...own, ...attempts.map(({ error }) => error)].map(textOf).join('; ')
}
