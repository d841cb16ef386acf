// The long form, by `npm run fuzz -- --seed N --frames N --target NAME`; see scripts/fuzz.js.
import { parseArgs } from 'node:util'
import { type FuzzReport, fuzz, ROUNDS } from './run.ts'

/** A heap that is still larger after a collection holds what it should not, in bytes. */
const MAX_HEAP_BYTES = 256 * 1024 * 1024

const { values } = parseArgs({
  options: { seed: { type: 'string' }, frames: { type: 'string' }, target: { type: 'string' } }
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const frames = Number(values.frames ?? 100_000)
const { target } = values
if (!Number.isInteger(seed) || !(frames > 0) || (target !== undefined && !(target in ROUNDS))) {
  console.error(`fuzz --seed N --frames N --target ${Object.keys(ROUNDS).join('|')}`)
  process.exit(2)
}

let report: FuzzReport = { rounds: 0, frames: {} }
process.on('unhandledRejection', (error) => {
  console.error(`unhandled, in or after --seed ${seed + report.rounds} --frames 1`, error)
  process.exit(1)
})

const startedAt = performance.now()
let largest = 0
try {
  await fuzz({
    seed,
    frames,
    ...(target !== undefined && { targets: [target] }),
    onRound: (current) => {
      report = current
      if (current.rounds % 250 === 0) {
        globalThis.gc?.()
        const { heapUsed, arrayBuffers } = process.memoryUsage()
        largest = Math.max(largest, heapUsed + arrayBuffers)
        if (largest > MAX_HEAP_BYTES) {
          throw new Error(`${largest} bytes are held`)
        }
      }
    }
  })
} catch (error) {
  console.error(error)
  process.exit(1)
}
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
console.log(`seed ${seed}: ${report.rounds} rounds in ${seconds} s, nothing found`)
for (const [name, count] of Object.entries(report.frames)) {
  console.log(`  ${name.padEnd(10)}${count} frames`)
}
console.log(`  at most ${Math.ceil(largest / 2 ** 20)} MiB held`)
// What was left waiting by a peer that never ends would keep the process.
process.exit(0)
