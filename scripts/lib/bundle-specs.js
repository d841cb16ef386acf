// Bundles the specs that run in browsers into one script, for the page that Karma serves.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import * as esbuild from 'esbuild'
import { root } from './package.js'

const NOT_IN_BROWSERS = [/\.node\.spec\.ts$/, /^test\/(e2e|interop|api)\//]

// mocha does not see rejections that nobody handles; thrown, they fail the test
const FAIL_ON_REJECTION = "addEventListener('unhandledrejection', ({ reason }) => { throw reason })"

/** Writes the bundle, with its source map, to `outfile`. `SPECS=glob` in the environment chooses some of them. */
export async function bundleSpecs(outfile) {
  const specs = globSync(process.env.SPECS ?? 'test/**/*.spec.ts', { cwd: root })
    .map((spec) => spec.replaceAll('\\', '/'))
    .filter((spec) => !NOT_IN_BROWSERS.some((pattern) => pattern.test(spec)))
    .sort()
  await esbuild.build({
    stdin: {
      contents: [FAIL_ON_REJECTION, ...specs.map((spec) => `import './${spec}'`)].join('\n'),
      resolveDir: root,
      sourcefile: 'specs.ts',
      loader: 'ts'
    },
    absWorkingDir: root,
    bundle: true,
    outfile,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    sourcemap: true,
    // waku-light/… is the sources, as the path mapping says
    tsconfig: join(root, 'tsconfig.json'),
    // started outside of the page: see test/browser/start-service-nodes.ts
    external: ['waku-light-service-node'],
    // package.json says that no module here has side effects; specs have nothing else
    ignoreAnnotations: true,
    define: { global: 'globalThis' },
    logLevel: 'warning'
  })
  return specs
}
