import {
  fillGaps,
  type MessagePage,
  parallel,
  readAhead,
  type SourcesPage,
  sources,
  type Walker
} from 'waku-light/store'
import type { Random } from '../fuzz/random.ts'
import { shuffled, TOPICS } from './crew.ts'
import type { Ledger } from './ledger.ts'

/** How a stretch of a walk is done. */
export interface Way {
  readonly name: string
  /** Undefined: page by page. */
  readonly walker?: Walker
  /** Several nodes give it. */
  readonly isMerged: boolean
}

/** What is asked for. */
export interface Criteria {
  readonly contentTopics?: readonly string[]
  readonly timeStart?: bigint
  readonly timeEnd?: bigint
}

/** Any walker, with any numbers. */
export function toWay(random: Random, isLegacy: boolean): Way {
  const count = 1 + random.int(4)
  const few = random.pick([2, 'all'] as const)
  const patienceMs = 200 + random.int(600)
  const alone: Way[] = [
    { name: 'pages', isMerged: false },
    { name: `readAhead(${count})`, walker: readAhead(count), isMerged: false },
    { name: `parallel(${count})`, walker: parallel(count), isMerged: false }
  ]
  const merged: Way[] = [
    { name: `sources(${few})`, walker: sources(few, { patienceMs }), isMerged: true },
    { name: `fillGaps(${few})`, walker: fillGaps(few, { patienceMs }), isMerged: true },
    {
      name: `sources(${few}) of readAhead(${count})`,
      walker: sources(few, { patienceMs, walker: readAhead(count) }),
      isMerged: true
    },
    {
      name: `fillGaps(${few}) of parallel(${count})`,
      walker: fillGaps(few, { patienceMs, walker: parallel(count) }),
      isMerged: true
    }
  ]
  const isAlone = random.chance(0.6) || isLegacy
  return random.pick(isAlone ? alone : merged)
}

/** Some topics or all, with times between messages that there are, or without. */
export function toChosenCriteria(random: Random, { messages }: Ledger): Criteria {
  const times = [...messages.values()].map(({ timestamp }) => timestamp)
  const time = (): bigint => random.pick(times)
  const [one, other] = [time(), time()]
  const [first, last] = one < other ? [one, other] : [other, one]
  const contentTopics = shuffled(random, TOPICS).slice(0, 1 + random.int(TOPICS.length))
  return {
    ...(random.chance(0.8) && { contentTopics }),
    ...(random.chance(0.3) && { timeStart: first }),
    ...(random.chance(0.3) && { timeEnd: last + 1n })
  }
}

/** Nodes that gave all that they have from the beginning to the end, by what the last page of several nodes says. */
export function wholeSources(page: MessagePage): string[] {
  return ((page as Partial<SourcesPage>).sources ?? [])
    .filter(({ state, since }) => state === 'complete' && since === undefined)
    .map(({ peerId }) => peerId)
}
