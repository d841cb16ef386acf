// `npm run bench`: runs bench/*.bench.ts one after the other, each in a process of its own. `npm run bench -- wire` runs
// those with that in their name.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { root } from './lib/package.js'

const [wanted = ''] = process.argv.slice(2)
const files = globSync('bench/*.bench.ts', { cwd: root })
  .sort()
  .filter((file) => basename(file).includes(wanted))
if (files.length === 0) {
  console.error(`no bench/*.bench.ts${wanted === '' ? '' : ` with ${wanted} in its name`}`)
  process.exitCode = 1
}
for (const file of files) {
  console.log(`\n## ${basename(file, '.bench.ts')}`)
  const { status } = spawnSync(process.execPath, ['--import=tsx', file], {
    cwd: root,
    stdio: 'inherit'
  })
  if (status !== 0) process.exitCode = 1
}
console.log('\nkept in bench/results; npm run docs puts it into the README')
