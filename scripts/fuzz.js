// Feeds mutated frames and whole malice to every decoder and every client.
//
//   npm run fuzz -- --seed N --frames N --target decoders|exchange|answer|push|walk
//
// Without a seed, one that is printed; without frames, a hundred thousand. A failure names the seed that repeats it.
import { setFlagsFromString } from 'node:v8'
import { register } from 'tsx/esm/api'

setFlagsFromString('--expose-gc')
register({ tsconfig: 'tsconfig.json' })
await import('../test/fuzz/main.ts')
