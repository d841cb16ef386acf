// Feeds mutated frames and whole malice to every decoder and every client.
//
//   npm run fuzz -- --seed N --frames N --target decoders|exchange|answer|push|walk
//
// Without a seed, one that is printed; without frames, a hundred thousand. A failure names the seed that repeats it.
import { spawnSync } from 'node:child_process'
import { root } from './lib/package.js'

const { status } = spawnSync(
  process.execPath,
  ['--expose-gc', '--import', 'tsx', 'test/fuzz/main.ts', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' }
)
process.exitCode = status ?? 1
