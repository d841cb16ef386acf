// Prints failures (VERBOSE=1: every test), and leaves the counts where `npm test` adds them up (TEST_COUNTS names the
// file). A process that has not ended some seconds after its last test has leaked something: that is a failure too.
const { appendFileSync } = require('node:fs')
const { Base } = require('mocha').reporters

const LEAK_AFTER_MS = 5000
const suite = process.env.TEST_SUITE ?? 'node'

// mocha hands rejections that nobody handles back to the process, where nothing waits for them; thrown, they fail the test
process.on('unhandledRejection', (reason) => {
  throw reason
})

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
      const seconds = (duration / 1000).toFixed(1)
      console.log(`${suite}: ${passes} pass, ${failures} fail, ${pending} skipped (${seconds} s)`)
      count({ passed: passes, failed: failures, skipped: pending })
      setTimeout(failForLeak, LEAK_AFTER_MS).unref()
    })
  }
}

function failForLeak() {
  const open = process.getActiveResourcesInfo().join(', ')
  console.log(`  FAILED: the process does not end, a test has left something open: ${open}`)
  count({ passed: 0, failed: 1, skipped: 0 })
  // mocha sets the status by the number of failed tests when the process exits; this comes after it
  process.on('exit', () => {
    process.exitCode = 1
  })
  process.exit(1)
}

function count(counts) {
  if (process.env.TEST_COUNTS !== undefined) {
    appendFileSync(process.env.TEST_COUNTS, `${JSON.stringify({ suite, ...counts })}\n`)
  }
}
