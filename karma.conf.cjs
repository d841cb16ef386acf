// Runs every spec that is not for Node alone in Chromium, and in Firefox where there is one. The service nodes that the
// specs talk to are started here, from the built package, and their addresses handed to the page.
const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { karmaReporter } = require('./scripts/lib/karma-reporter.cjs')

const root = __dirname

module.exports = async (config) => {
  const { findChromium, findFirefox, CHROMIUM_FLAGS } = await import('./scripts/find-browser.js')
  const { bundleSpecs } = await import('./scripts/lib/bundle-specs.js')
  const { startServiceNodes } = await import('./test/browser/start-service-nodes.ts')

  process.env.CHROME_BIN = findChromium()
  const browsers = ['ChromiumHeadless']
  const firefox = findFirefox()
  if (firefox !== undefined) {
    process.env.FIREFOX_BIN = firefox
    browsers.push('FirefoxHeadless')
  } else {
    console.log('browser: no Firefox found (FIREFOX_BIN), skipped')
  }

  const folder = join(root, '.cache/karma')
  mkdirSync(folder, { recursive: true })
  const bundle = join(folder, 'specs.js')
  await bundleSpecs(bundle)
  const nodes = await startServiceNodes()

  config.set({
    basePath: root,
    frameworks: ['mocha', 'service-nodes'],
    plugins: [
      require('karma-mocha'),
      require('karma-chrome-launcher'),
      require('karma-firefox-launcher'),
      { 'reporter:counts': ['type', karmaReporter] },
      { 'framework:service-nodes': ['factory', closeAtExit(nodes)] }
    ],
    files: [bundle, { pattern: `${bundle}.map`, included: false, served: true }],
    // read by test/browser/service-nodes.ts
    client: {
      mocha: { timeout: 20_000, forbidOnly: process.env.CI !== undefined },
      serviceNodes: {
        clusterId: nodes.clusterId,
        shardCount: nodes.shardCount,
        addresses: nodes.addresses
      }
    },
    browsers,
    customLaunchers: {
      ChromiumHeadless: { base: 'Chrome', flags: CHROMIUM_FLAGS }
    },
    reporters: ['counts'],
    hostname: '127.0.0.1',
    listenAddress: '127.0.0.1',
    autoWatch: false,
    singleRun: true,
    concurrency: 1,
    captureTimeout: 120_000,
    browserNoActivityTimeout: 120_000,
    browserDisconnectTolerance: 0,
    logLevel: config.LOG_WARN
  })
}

function closeAtExit(nodes) {
  const factory = (emitter) => {
    emitter.on('exit', (done) => {
      nodes.close().then(done, (error) => {
        console.error('the service nodes did not close:', error)
        done()
      })
    })
  }
  factory.$inject = ['emitter']
  return factory
}
