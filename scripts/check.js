// `npm run check`: every gate that is not a test. One line a gate; what a gate prints is shown only if it fails.
// Gates run two at a time, in the order below; `npm run check -- lint types` runs some alone.
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './lib/package.js'

const AT_A_TIME = 2
const MAX_LINES = process.argv.includes('--all') ? Number.POSITIVE_INFINITY : 60
const PACKAGES = '.cache/packages'

const tsconfigs = ['tsconfig.json', ...globSync('examples/*/tsconfig.json', { cwd: root })]
const code = ['src', 'service-node/src', 'examples', 'bench', 'test'].filter(
  (folder) => globSync(`${folder}/**/*.{ts,js}`, { cwd: root }).length > 0
)
const written = existsSync(join(root, 'README.md')) ? [['node', 'scripts/docs.js', '--check']] : []
const packed = [
  { folder: '.', name: 'waku-light', attw: ['--profile', 'esm-only'] },
  { folder: 'service-node', name: 'waku-light-service-node', attw: ['--profile', 'esm-only'] }
].filter(({ folder }) => existsSync(join(root, folder, 'src/index.ts')))

/** Each gate: commands that run one after the other, and the gates that must have passed before. */
const gates = [
  { name: 'generated', commands: [['node', 'scripts/generate.js', '--check']] },
  { name: 'format', commands: [['biome', 'check', '--colors=off', '--max-diagnostics=30']] },
  { name: 'lint', commands: [['eslint', '--max-warnings=0', '.']] },
  { name: 'layers', commands: [['depcruise', '--config', '.dependency-cruiser.cjs', ...code]] },
  { name: 'unused', commands: [['knip', '--no-progress', '--no-config-hints']] },
  { name: 'types', commands: tsconfigs.map((file) => ['tsc', '--noEmit', '-p', file]) },
  { name: 'build', commands: [['node', 'scripts/build.js']] },
  { name: 'sizes', after: 'build', show: true, commands: [['node', 'bench/sizes.js']] },
  { name: 'tree-shaking', after: 'build', commands: [['node', 'scripts/tree-shaking.js']] },
  { name: 'copies', after: 'build', commands: [['node', 'scripts/copies.js']] },
  {
    name: 'package',
    after: 'build',
    prepare: emptyPackages,
    commands: packed.flatMap(({ folder, name, attw }) => [
      [
        'npm',
        'pack',
        `./${folder}`,
        '--ignore-scripts',
        '--silent',
        '--pack-destination',
        PACKAGES
      ],
      ['publint', 'run', '--strict', () => tarball(name)],
      ['attw', '--no-color', '--no-emoji', ...attw, () => tarball(name)]
    ])
  },
  { name: 'docs', commands: [['typedoc'], ...written], after: 'build' }
]

const wanted = process.argv.slice(2).filter((argument) => argument !== '--all')
const unknown = wanted.filter((name) => !gates.some((gate) => gate.name === name))
if (unknown.length > 0) {
  console.error(`no such gate: ${unknown.join(', ')} (${gates.map(({ name }) => name).join(', ')})`)
  process.exit(2)
}

const started = Date.now()
const results = new Map()
const waiting = gates.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
for (const { after } of [...waiting]) {
  if (after !== undefined && !waiting.some(({ name }) => name === after)) {
    waiting.unshift(gates.find(({ name }) => name === after))
  }
}
const total = waiting.length
await Promise.all(Array.from({ length: AT_A_TIME }, work))
const failed = [...results].filter(([, passed]) => !passed).map(([name]) => name)
const seconds = ((Date.now() - started) / 1000).toFixed(0)
console.log(
  failed.length === 0
    ? `all ${total} gates (${seconds} s)`
    : `${failed.length} of ${total} gates failed: ${failed.join(', ')} (${seconds} s)`
)
process.exitCode = failed.length === 0 ? 0 : 1

async function work() {
  while (waiting.length > 0) {
    const index = waiting.findIndex(({ after }) => after === undefined || results.has(after))
    if (index === -1) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      continue
    }
    const [gate] = waiting.splice(index, 1)
    if (gate.after !== undefined && !results.get(gate.after)) {
      report(gate.name, false, 0, `not run: ${gate.after} failed`)
    } else {
      await runGate(gate)
    }
  }
}

async function runGate({ name, commands, prepare, show }) {
  const start = Date.now()
  prepare?.()
  let output = ''
  for (const command of commands) {
    const { status, text } = await run(
      command.map((part) => (typeof part === 'function' ? part() : part))
    )
    output += text
    if (status !== 0) {
      report(
        name,
        false,
        Date.now() - start,
        `$ ${command.filter((part) => typeof part === 'string').join(' ')}\n${text}`
      )
      return
    }
  }
  report(name, true, Date.now() - start, show ? output : '')
}

function report(name, passed, ms, text) {
  results.set(name, passed)
  console.log(
    `${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(14)} ${(ms / 1000).toFixed(1).padStart(5)} s`
  )
  const lines = text.trim() === '' ? [] : text.trimEnd().split('\n')
  const shown = lines.length <= MAX_LINES + 1 ? lines : lines.slice(0, MAX_LINES)
  if (shown.length > 0) console.log(shown.join('\n').replace(/^/gm, '    '))
  if (shown.length < lines.length) {
    console.log(`    … ${lines.length - shown.length} lines more: npm run check -- ${name} --all`)
  }
}

function run([command, ...args]) {
  return new Promise((resolve) => {
    const bin = join(root, 'node_modules/.bin')
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, NO_COLOR: '1' },
      shell: process.platform === 'win32'
    })
    let text = ''
    child.stdout.on('data', (data) => (text += data))
    child.stderr.on('data', (data) => (text += data))
    child.once('error', (error) => resolve({ status: 1, text: `${text}${error.message}\n` }))
    child.once('close', (status) => resolve({ status, text }))
  })
}

function emptyPackages() {
  rmSync(join(root, PACKAGES), { recursive: true, force: true })
  mkdirSync(join(root, PACKAGES), { recursive: true })
}

function tarball(name) {
  const [file] = globSync(`${PACKAGES}/${name}-[0-9]*.tgz`, { cwd: root })
  return file ?? `${PACKAGES}/${name}.tgz`
}
