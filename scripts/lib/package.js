// What this package offers to the outside, read from package.json: nothing else keeps a list of the subpaths.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/**
 * The subpaths that hold code: `specifier` is what users write, `file` the built module, `source` the one it is built
 * from.
 */
export const subpaths = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === 'object')
  .map(([subpath, target]) => ({
    subpath,
    specifier: subpath === '.' ? manifest.name : `${manifest.name}/${subpath.slice(2)}`,
    file: join(root, target.import),
    source: join(root, target.import.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts'))
  }))

/** The names that each subpath exports at run time, sorted, with their values: `[{ specifier, file, names, module }]`. */
export async function publicExports() {
  const found = []
  for (const entry of subpaths) {
    if (!existsSync(entry.file)) {
      throw new Error(`${entry.specifier} is not built: ${entry.file} is missing (npm run build)`)
    }
    const module = await import(pathToFileURL(entry.file).href)
    found.push({ ...entry, module, names: Object.keys(module).sort() })
  }
  return found
}
