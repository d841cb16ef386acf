// One copy of each package, in what an app installs and in what its bundle holds: fails for a second one that copies.json
// does not name. By the lockfile and the built package; bench/consumer.bench.ts installs and counts anew.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWithEsbuild } from './lib/bundle.js'
import { bundledCopies, installedCopies, strayCopies, toLines } from './lib/copies.js'
import { root, subpaths } from './lib/package.js'

const installed = installedCopies(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))
const everything = Object.fromEntries(subpaths.map(({ specifier }) => [specifier, ['*']]))
const { files } = await bundleWithEsbuild(everything)

for (const [what, copies] of [
  ['installed', installed],
  ['bundled', bundledCopies(files.keys())]
]) {
  const lines = toLines(copies)
  console.log(`${what}: ${copies.size} packages${lines.length > 0 ? `; ${lines.join(', ')}` : ''}`)
  const strays = strayCopies(copies)
  if (strays.length > 0) {
    console.error(`${what}, and not named in scripts/copies.json:\n${strays.join('\n')}`)
    process.exitCode = 1
  }
}
