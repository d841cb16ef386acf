// `npm test`: builds, runs every suite but the foreign peers, and closes with one line of counts.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { closingLine } from './lib/counts.js'
import { root } from './lib/package.js'

const suites = [
  { name: 'node', args: ['run', '--silent', 'test:node'] },
  { name: 'browser', args: ['run', '--silent', 'test:browser'] }
]
if (globSync('test/e2e/**/*.spec.ts', { cwd: root }).length > 0) {
  suites.push({ name: 'end to end', args: ['run', '--silent', 'test:e2e'] })
}

// a caller that adds up more than this (.ci/run) names the file, and prints the closing line itself
const outer = process.env.TEST_COUNTS
const counts = outer ?? join(root, '.cache/test-counts')
mkdirSync(join(root, '.cache'), { recursive: true })
if (outer === undefined) rmSync(counts, { force: true })

npm(['run', '--silent', 'build']) || process.exit(1)
let ok = true
for (const { name, args } of suites) {
  console.log(`--- ${name}`)
  const before = linesOf(counts)
  const succeeded = npm(args, { TEST_COUNTS: counts, TEST_SUITE: name })
  if (!succeeded || linesOf(counts) === before) {
    ok = false
    console.log(`${name}: ${succeeded ? 'nothing was counted' : 'did not succeed'}`)
  }
}
console.log('--- The foreign peers (go-waku, @waku/sdk) are run by `npm run test:interop`.')
if (outer === undefined) {
  console.log(closingLine(counts, ok))
}
process.exitCode = ok ? 0 : 1

function npm(args, env = {}) {
  const result = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
    shell: process.platform === 'win32'
  })
  return result.status === 0
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length : 0
}
