// How many copies of a package an app gets: one is shared, each further one is bytes for nothing.
import { readFileSync } from 'node:fs'

const known = JSON.parse(readFileSync(new URL('../copies.json', import.meta.url), 'utf8'))

/**
 * The packages that are installed for what a package.json lists in `dependencies`, those of its dependencies included; what
 * is there for development only, or for another workspace, is not among them.
 *
 * @param {{ packages: Record<string, object> }} lockfile - a package-lock.json of version 3
 * @returns {Map<string, string[]>} folders by name
 */
export function installedCopies({ packages }) {
  const found = new Set()
  const visit = (folder) => {
    if (found.has(folder)) return
    found.add(folder)
    const { dependencies, optionalDependencies, peerDependencies } = packages[folder]
    for (const name of Object.keys({
      ...dependencies,
      ...optionalDependencies,
      ...peerDependencies
    })) {
      const target = resolve(packages, folder, name)
      if (target !== undefined) visit(target)
    }
  }
  visit('')
  return byName(found)
}

/** The folder that Node finds a package in: from the importer's upwards. */
function resolve(packages, folder, name) {
  const parent = folder.lastIndexOf('node_modules/')
  const target = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
  if (target in packages) return target
  return folder === ''
    ? undefined
    : resolve(packages, folder.slice(0, Math.max(parent - 1, 0)), name)
}

/**
 * The packages of which a bundle holds bytes.
 *
 * @param {Iterable<string>} files - their paths, as the bundler tells them
 * @returns {Map<string, string[]>} folders by name
 */
export function bundledCopies(files) {
  const folders = [...files].flatMap(
    (file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []
  )
  return byName(new Set(folders))
}

function byName(folders) {
  const copies = new Map()
  for (const folder of folders) {
    const name = folder.match(/.*node_modules\/(.*)/)?.[1]
    if (name !== undefined) copies.set(name, [...(copies.get(name) ?? []), folder].sort())
  }
  return copies
}

/** Copies beyond the first that copies.json does not name: a package, and in whose folder a copy of its own may be. */
export function strayCopies(copies) {
  return [...copies].flatMap(([name, folders]) =>
    folders.length === 1
      ? []
      : folders.filter((folder) => {
          const owner = folder.match(/node_modules\/(.*?)\/node_modules\//)?.[1]
          return owner !== undefined && !known[name]?.includes(owner)
        })
  )
}

/** Those of which there are several, as lines of text. */
export function toLines(copies) {
  return [...copies]
    .filter(([, folders]) => folders.length > 1)
    .map(([name, folders]) => `${name}: ${folders.length} copies`)
    .sort()
}
