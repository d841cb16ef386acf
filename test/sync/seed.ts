// One seed for a run, from FC_SEED or the clock; FC_FACTOR multiplies the runs of every property.
import fc from 'fast-check'

const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } })
  .process?.env

export const seed = Number(environment?.['FC_SEED'] ?? Date.now() & 0x7fffffff)

/** Whether the long properties run as well: SYNC_LONG=1. */
export const isLong = environment?.['SYNC_LONG'] !== undefined

export function check<T extends unknown[]>(property: fc.IProperty<T>, numRuns: number): void {
  fc.assert(property, { seed, numRuns: numRuns * Number(environment?.['FC_FACTOR'] ?? 1) })
}
