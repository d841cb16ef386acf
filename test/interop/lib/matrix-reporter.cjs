// Reports as every other suite does, and leaves the rows of docs/interop.md in the file that INTEROP_ROWS names. A row is
// a test: its outermost suite is `implementation: role`, the one in it the protocol, and its own title the case.
const { writeFileSync } = require('node:fs')
const Reporter = require('../../../scripts/lib/mocha-reporter.cjs')

module.exports = class extends Reporter {
  constructor(runner, options) {
    const rows = []
    runner.on('test end', (test) => {
      const [side, protocol, title] = test.titlePath()
      const [implementation, role] = side.split(': ')
      rows.push({ implementation, role, protocol, title, state: test.state ?? 'pending' })
    })
    runner.once('end', () => {
      if (process.env.INTEROP_ROWS !== undefined) {
        writeFileSync(process.env.INTEROP_ROWS, JSON.stringify(rows))
      }
    })
    super(runner, options)
  }
}
