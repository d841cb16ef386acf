import type { Counts } from './ledger.ts'
import type { ChaosReport } from './run.ts'

/** Groups of the summary, by how the names of their counts begin. */
const GROUPS = ['pushes', 'confirmed', 'walks', 'walks on', 'look-ups', 'tails', 'entries'] as const

/** Adds up what became of everything in a run. */
export function countReport({ ledger }: ChaosReport, total: Counts): void {
  for (const { status, stored } of ledger.pushes) {
    total.add(`pushes: ${status}`)
    if (stored !== undefined) {
      total.add(`confirmed: ${stored === true ? 'stored' : stored === false ? 'absent' : stored}`)
    }
  }
  for (const { end, resumed } of ledger.walks) {
    total.add(`walks: ${end}`)
    total.add(`walks on: ${resumed === 0 ? 'never resumed' : 'resumed'}`)
  }
  for (const { state } of ledger.entries) {
    total.add(`entries: ${state}`)
  }
  total.addAll(ledger.counts)
}

/** One line for each group, with the rate of each outcome; then how many faults there were. */
export function summary(total: Counts): string {
  const lines = GROUPS.map((group) => {
    const counts = total.list(`${group}: `)
    const sum = counts.reduce((all, [, count]) => all + count, 0)
    const parts = counts
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => {
        const percent = ((100 * count) / sum).toFixed(1)
        return `${name.slice(group.length + 2)} ${count} (${percent} %)`
      })
    return `  ${group.padEnd(12)}${sum}: ${parts.join(', ')}`
  })
  const faults = total.list('faults: ').map(([name, count]) => `${name.slice(8)} ${count}`)
  return [...lines, `  ${'faults'.padEnd(12)}${faults.join(', ')}`].join('\n')
}
