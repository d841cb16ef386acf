// The specs that drive the example page in Chromium. They find the browser in CHROME_BIN.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { findChromium } from './find-browser.js'
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
  { cwd: root, stdio: 'inherit', env: { ...process.env, CHROME_BIN: findChromium() } }
)
process.exitCode = result.status ?? 1
