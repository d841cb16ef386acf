// Specs that run in Node. What runs only in browsers, end to end, or against foreign peers has commands of its own.
// With files on the command line, those alone.
const given = process.argv.some((argument) => argument.endsWith('.spec.ts'))

module.exports = {
  spec: given ? [] : ['test/**/*.spec.ts', 'service-node/test/**/*.spec.ts'],
  ignore: ['**/*.browser.spec.ts', 'test/e2e/**', 'test/interop/**', '**/node_modules/**'],
  import: ['tsx'],
  reporter: 'scripts/lib/mocha-reporter.cjs',
  parallel: true,
  jobs: 2,
  timeout: 10_000,
  forbidOnly: process.env.CI !== undefined
}
