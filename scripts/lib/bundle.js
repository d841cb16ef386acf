// Bundles a few imports of the built package, the way that an app's build does, and tells what got into the bundle.

import { relative } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import * as esbuild from 'esbuild'
import { rollup } from 'rollup'
import { root, subpaths } from './package.js'

const ENTRY = 'the-entry'

/**
 * A module that imports and exports the given names.
 *
 * @param {Record<string, readonly string[]>} imports - names by specifier; `['*']` for everything
 */
export function entryOf(imports) {
  return Object.entries(imports)
    .map(([specifier, names], index) =>
      names[0] === '*'
        ? `export * as all${index} from '${specifier}'`
        : `export { ${names.map((name) => `${name} as ${name}${index}`).join(', ')} } from '${specifier}'`
    )
    .join('\n')
}

/**
 * With esbuild, dependencies included, minified.
 *
 * @returns {Promise<{ bytes: number, brotliBytes: number, files: Map<string, number> }>} `files` are paths below the root,
 *   with the bytes that each left in the bundle
 */
export async function bundleWithEsbuild(imports) {
  const result = await esbuild.build({
    stdin: { contents: entryOf(imports), resolveDir: root, sourcefile: ENTRY },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    outfile: 'out.js',
    metafile: true,
    legalComments: 'none',
    logLevel: 'silent',
    // the package is used as built: the sources' path mapping is not for here
    tsconfigRaw: {}
  })
  const [output] = result.outputFiles
  const files = new Map()
  for (const [file, { bytesInOutput }] of Object.entries(
    result.metafile.outputs['out.js'].inputs
  )) {
    if (bytesInOutput > 0 && file !== ENTRY) {
      files.set(file.replace(/^node_modules\/waku-light\//, ''), bytesInOutput)
    }
  }
  const brotli = brotliCompressSync(output.contents, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: output.contents.length
    }
  })
  return { bytes: output.contents.length, brotliBytes: brotli.length, files }
}

/**
 * With rollup, which leaves the packages out.
 *
 * @param {string} source - the entry's code
 * @param {boolean} distrust - every module, packages too, is taken to have side effects, whatever package.json says
 * @returns {Promise<{ code: string, files: Map<string, number>, packages: string[] }>}
 */
export async function bundleWithRollup(source, { distrust = false } = {}) {
  const bundle = await rollup({
    input: ENTRY,
    onLog() {},
    treeshake: { moduleSideEffects: distrust },
    plugins: [
      {
        name: 'entry',
        resolveId(id) {
          if (id === ENTRY) return ENTRY
          const own = subpaths.find(({ specifier }) => specifier === id)
          if (own !== undefined) return own.file
          return /^[./]/.test(id) ? null : { id, external: true, moduleSideEffects: distrust }
        },
        load(id) {
          return id === ENTRY ? source : null
        }
      }
    ]
  })
  try {
    const { output } = await bundle.generate({ format: 'es' })
    const [chunk] = output
    const files = new Map()
    for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
      if (renderedLength > 0 && id !== ENTRY) {
        files.set(relative(root, id), renderedLength)
      }
    }
    return { code: chunk.code, files, packages: chunk.imports }
  } finally {
    await bundle.close()
  }
}
