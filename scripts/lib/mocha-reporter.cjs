// Prints failures and slow files only, and leaves the counts where `npm test` adds them up (TEST_COUNTS names the file).
const { appendFileSync } = require('node:fs')
const { Base } = require('mocha').reporters

module.exports = class extends Base {
  constructor(runner, options) {
    super(runner, options)
    const verbose = process.env.VERBOSE !== undefined
    runner.on('pass', (test) => {
      if (verbose) console.log(`  ok ${test.fullTitle()} (${test.duration ?? 0} ms)`)
    })
    runner.on('pending', (test) => console.log(`  skipped: ${test.fullTitle()}`))
    runner.on('fail', (test) => console.log(`  FAILED: ${test.fullTitle()}`))
    runner.once('end', () => {
      const { passes, failures, pending, duration } = this.stats
      if (this.failures.length > 0) Base.list(this.failures)
      console.log(
        `node: ${passes} pass, ${failures} fail, ${pending} skipped (${(duration / 1000).toFixed(1)} s)`
      )
      if (process.env.TEST_COUNTS !== undefined) {
        const counts = {
          suite: process.env.TEST_SUITE ?? 'node',
          passed: passes,
          failed: failures,
          skipped: pending
        }
        appendFileSync(process.env.TEST_COUNTS, `${JSON.stringify(counts)}\n`)
      }
    })
  }
}
