// Pushes and walks through proxies that delay, cut, blackhole and corrupt, before real service nodes that are stopped and
// started, and compares what was told with what the archives hold.
//
//   npm run chaos -- --seed N --count N
//
// Without a seed, one that is printed; without a count, one seed. A violation names the seed that repeats its choices, though
// not the exact timing.
import { register } from 'tsx/esm/api'

register({ tsconfig: 'tsconfig.json' })
await import('../test/chaos/main.ts')
