// The specs that drive the example page in Chromium. They find the browser in CHROME_BIN, and how to start it in
// CHROMIUM_FLAGS.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { CHROMIUM_FLAGS, findChromium } from './find-browser.js'
import { root } from './lib/package.js'

const mocha = join(root, 'node_modules/mocha/bin/mocha.js')
const result = spawnSync(
  process.execPath,
  [
    mocha,
    '--no-config',
    '--import=tsx',
    '--reporter=scripts/lib/mocha-reporter.cjs',
    '--timeout=60000',
    'test/e2e/**/*.spec.ts'
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROME_BIN: findChromium(),
      CHROMIUM_FLAGS: CHROMIUM_FLAGS.join(' ')
    }
  }
)
process.exitCode = result.status ?? 1
