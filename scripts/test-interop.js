// `npm run test:interop`: installs and builds the foreign peers, runs the specs that meet them, on loopback, and records
// what was found in docs/interop.md. Without Go or gcc the cases with go-waku are skipped, which CI does not allow.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSameMatrix, renderMatrix } from '../test/interop/lib/matrix.js'
import {
  buildGoWaku,
  installJsWaku,
  missingForGoWaku,
  versions
} from '../test/interop/lib/peers.js'
import { run } from '../test/interop/lib/run.js'
import { closingLine } from './lib/counts.js'
import { root } from './lib/package.js'

const PAGE = 'docs/interop.md'
const TESTS_TIMEOUT_MS = 10 * 60_000
const isCi = process.env.CI !== undefined && process.env.CI !== 'false'

// a caller that adds up more than this (.ci/run) names the file, and prints the closing line itself
const outer = process.env.TEST_COUNTS
const counts = outer ?? join(root, '.cache/interop-counts')
const rowsFile = join(root, '.cache/interop-rows.json')
mkdirSync(join(root, '.cache'), { recursive: true })
if (outer === undefined) rmSync(counts, { force: true })
rmSync(rowsFile, { force: true })

const missing = await missingForGoWaku()
let ok = report('js-waku', 'installed', await installJsWaku())
if (missing === undefined) {
  ok = report('go-waku', 'built', await buildGoWaku()) && ok
}
if (ok) {
  ok = await runSpecs()
  const rows = existsSync(rowsFile) ? JSON.parse(readFileSync(rowsFile, 'utf8')) : []
  const skipped = rows.filter(({ state }) => state === 'pending').length
  if (missing !== undefined) {
    console.log(`--- ${skipped} cases with go-waku SKIPPED. Missing here: ${missing}.`)
  }
  if (skipped > 0 && isCi) {
    console.log('FAILED: CI skips nothing')
    ok = false
  }
  if (ok && skipped === 0) ok = record(rows)
}
if (outer === undefined) console.log(closingLine(counts, ok))
process.exitCode = ok ? 0 : 1

async function runSpecs() {
  const specs = globSync('test/interop/*.spec.ts', { cwd: root }).sort()
  const { ok: passed } = await run(
    process.execPath,
    [
      join(root, 'node_modules/mocha/bin/mocha.js'),
      '--no-config',
      '--import=tsx',
      '--reporter=test/interop/lib/matrix-reporter.cjs',
      '--timeout=60000',
      ...(isCi ? ['--forbid-only'] : []),
      ...specs
    ],
    {
      cwd: root,
      timeoutMs: TESTS_TIMEOUT_MS,
      show: true,
      env: {
        TEST_COUNTS: counts,
        TEST_SUITE: 'interop',
        INTEROP_ROWS: rowsFile,
        ...(missing === undefined ? undefined : { INTEROP_WITHOUT_GO_WAKU: '1' })
      }
    }
  )
  return passed
}

function record(rows) {
  const date = new Date().toISOString().slice(0, 10)
  const page = renderMatrix(rows, versions(), date)
  const before = existsSync(join(root, PAGE)) ? readFileSync(join(root, PAGE), 'utf8') : ''
  if (isCi) {
    const isSame = isSameMatrix(page, before)
    if (!isSame) console.log(`FAILED: ${PAGE} is not what this run has found; commit it anew`)
    return isSame
  }
  writeFileSync(join(root, PAGE), page)
  const change = isSameMatrix(page, before) ? 'nothing new' : 'CHANGED'
  console.log(`${PAGE}: ${rows.length} rows, ${change}`)
  return true
}

function report(name, done, { ok: succeeded, text, seconds }) {
  const outcome = succeeded ? done : 'FAILED'
  console.log(`--- ${name}: ${outcome} (${seconds} s)`)
  if (!succeeded) console.log(text.trimEnd())
  return succeeded
}
