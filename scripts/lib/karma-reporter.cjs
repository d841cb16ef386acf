// Prints failures and a line for each browser, and leaves the counts where `npm test` adds them up.
const { appendFileSync } = require('node:fs')

function karmaReporter() {
  const counts = new Map()
  const of = (browser) => {
    if (!counts.has(browser.name))
      counts.set(browser.name, { passed: 0, failed: 0, skipped: 0, started: Date.now() })
    return counts.get(browser.name)
  }

  this.adapters = []
  this.onRunStart = () => {}
  this.onBrowserStart = (browser) => of(browser)
  this.onBrowserLog = (_browser, log, type) => console.log(`  ${type}: ${log}`)
  this.onBrowserError = (browser, error) => {
    of(browser).failed++
    console.log(
      `  FAILED in ${browser.name}: ${error?.message ?? String(error)}\n${error?.stack ?? ''}`
    )
  }
  this.onSpecComplete = (browser, { success, skipped, suite, description, log, time }) => {
    const title = [...suite, description].join(' ')
    if (skipped) {
      of(browser).skipped++
      console.log(`  skipped in ${browser.name}: ${title}`)
    } else if (success) {
      of(browser).passed++
      if (process.env.VERBOSE !== undefined) console.log(`  ok ${title} (${time} ms)`)
    } else {
      of(browser).failed++
      console.log(
        `  FAILED in ${browser.name}: ${title}\n    ${log.join('\n').replaceAll('\n', '\n    ')}`
      )
    }
  }
  this.onBrowserComplete = (browser) => {
    const { passed, failed, skipped, started } = of(browser)
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(
      `${browser.name}: ${passed} pass, ${failed} fail, ${skipped} skipped (${seconds} s)`
    )
  }
  this.onRunComplete = (_browsers, { exitCode, error, disconnected }) => {
    const all = [...counts]
    const failed = all.reduce((sum, [, one]) => sum + one.failed, 0)
    // a browser that never came, or vanished, has no failed spec to show for it
    if (failed === 0 && (exitCode !== 0 || error || disconnected)) {
      console.log('  FAILED: a browser did not run, or did not finish')
      all.push(['browsers', { passed: 0, failed: 1, skipped: 0 }])
    }
    if (process.env.TEST_COUNTS !== undefined) {
      for (const [suite, { passed, failed, skipped }] of all) {
        appendFileSync(
          process.env.TEST_COUNTS,
          `${JSON.stringify({ suite, passed, failed, skipped })}\n`
        )
      }
    }
  }
}
karmaReporter.$inject = []

module.exports = { karmaReporter }
