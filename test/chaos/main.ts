// The long form, by `npm run chaos -- --seed N --count N`; see scripts/chaos.js.
import { parseArgs } from 'node:util'
import { Counts } from './ledger.ts'
import { chaos } from './run.ts'
import { countReport, summary } from './summary.ts'

/** What takes longer hangs, in milliseconds. */
const MAX_SEED_MS = 120_000

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string' } }
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const count = Number(values.count ?? 1)
if (!Number.isInteger(seed) || !Number.isInteger(count) || count < 1) {
  console.error('chaos --seed N --count N')
  process.exit(2)
}

const startedAt = performance.now()
const total = new Counts()
let violations = 0
for (let own = seed; own < seed + count; own++) {
  const ownAt = performance.now()
  const timer = setTimeout(() => end(`--seed ${own}: not over in ${MAX_SEED_MS} ms`), MAX_SEED_MS)
  const report = await chaos(own)
  clearTimeout(timer)
  countReport(report, total)
  violations += report.violations.length
  if (process.env['VERBOSE'] !== undefined) {
    console.error(`seed ${own}: ${Math.round(performance.now() - ownAt)} ms`)
  }
  for (const violation of report.violations) {
    console.error(`--seed ${own}: ${violation}`)
  }
}
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
console.log(`seeds ${seed} to ${seed + count - 1} in ${seconds} s: ${violations} violations`)
console.log(summary(total))
process.exitCode = violations === 0 ? 0 : 1
// A process that does not end by itself has left something open.
setTimeout(() => end('the process does not end'), 5_000).unref()

function end(why: string): void {
  console.error(`${why}: ${process.getActiveResourcesInfo().join(', ')}`)
  process.exit(1)
}
