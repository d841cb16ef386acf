// Specs that run in Node. What runs only in browsers, end to end, or against foreign peers has commands of its own.
// In one process, so that what a spec leaves open shows: the reporter fails a run that does not end by itself.
// With files on the command line, those alone.
const given = process.argv.some((argument) => argument.endsWith('.spec.ts'))

module.exports = {
  spec: given ? [] : ['test/**/*.spec.ts', 'service-node/test/**/*.spec.ts'],
  ignore: ['**/*.browser.spec.ts', 'test/e2e/**', 'test/interop/**', '**/node_modules/**'],
  import: ['tsx'],
  reporter: 'scripts/lib/mocha-reporter.cjs',
  timeout: 10_000,
  forbidOnly: process.env.CI !== undefined
}
