// Builds the library, then the service node, into their dist folders. Does nothing if the sources are those of the last
// build; --force builds anew all the same.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/package.js'

const force = process.argv.includes('--force')
const stamps = join(root, '.cache/build')
const shared = ['package.json', 'package-lock.json', 'tsconfig.json']

const parts = [
  { name: 'waku-light', folder: '.', inputs: ['src/**/*.ts', 'tsconfig.build.json'] },
  {
    name: 'waku-light-service-node',
    folder: 'service-node',
    inputs: [
      'src/**/*.ts',
      'tsconfig.build.json',
      'service-node/src/**/*.ts',
      'service-node/package.json',
      'service-node/tsconfig.build.json'
    ]
  }
]

for (const part of parts) {
  if (existsSync(join(root, part.folder, 'src/index.ts'))) {
    build(part)
  } else {
    console.log(`${part.name}: no src/index.ts yet, not built`)
  }
}

function build({ name, folder, inputs }) {
  const dist = join(root, folder, 'dist')
  const stamp = join(stamps, name)
  const digest = digestOf([...shared, ...inputs])
  const old = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (!force && digest === old && existsSync(join(dist, 'index.js'))) {
    return
  }
  rmSync(stamp, { force: true })
  rmSync(dist, { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const result = spawnSync(
    process.execPath,
    [tsc, '-p', join(root, folder, 'tsconfig.build.json')],
    {
      cwd: root,
      stdio: 'inherit'
    }
  )
  if (result.status !== 0) {
    console.error(`${name}: not built`)
    process.exit(1)
  }
  mkdirSync(stamps, { recursive: true })
  writeFileSync(stamp, digest)
}

/** One digest over names and contents. */
function digestOf(patterns) {
  const hash = createHash('sha256').update(process.version)
  for (const file of globSync(patterns, { cwd: root }).sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}
