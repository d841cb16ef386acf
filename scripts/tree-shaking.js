// What an app does not use is not in its bundle. Two tests, on the built package:
//
// 1. Each public name is bundled alone, by esbuild with all dependencies and by rollup without, and what left bytes in
//    the bundle is compared with the allow-list of its subpath (tree-shaking.json).
// 2. A bare import of each subpath, by a rollup that trusts no side-effects flag, leaves only imports of packages.
//
// tree-shaking.json: `allow` has, by subpath and by name (`*` for the others), prefixes of source paths and names of
// packages, or of `groups` of these; `packages` stands for every package. `!` takes some away again. A name of the main
// entry is judged as in the subpath that it comes from.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWithEsbuild, bundleWithRollup, entryOf } from './lib/bundle.js'
import { publicExports } from './lib/package.js'

const { groups, allow } = JSON.parse(
  readFileSync(fileURLToPath(new URL('tree-shaking.json', import.meta.url)), 'utf8')
)
const entries = await publicExports()
const problems = []
let count = 0

for (const { specifier, subpath, names, module } of entries) {
  await Promise.all(
    names.map((name) => examine(specifier, name, ruleOf(specifier, subpath, name, module[name])))
  )
  await examineBareImport(specifier)
}

console.log(
  `${count} public names alone, ${entries.length} bare imports: ${problems.length} problems`
)
if (problems.length > 0) {
  console.error(problems.sort().join('\n'))
  process.exitCode = 1
}

async function examine(specifier, name, rule) {
  count++
  if (rule === undefined) {
    problems.push(`${specifier}: no allow-list in scripts/tree-shaking.json`)
    return
  }
  const imports = { [specifier]: [name] }
  const [esbuild, rollup] = await Promise.all([
    bundleWithEsbuild(imports),
    bundleWithRollup(entryOf(imports))
  ])
  judge(specifier, name, 'esbuild', rule, esbuild.files.keys())
  judge(specifier, name, 'rollup', rule, [
    ...rollup.files.keys(),
    ...rollup.packages.map((id) => `node_modules/${id}`)
  ])
}

function judge(specifier, name, bundler, { allowed, refused }, files) {
  const foreign = new Set()
  for (const file of files) {
    const origin = originOf(file)
    const isPackage = !origin.startsWith('src/')
    const matches = (entry) =>
      entry === 'packages' ? isPackage : isPackage ? entry === origin : origin.startsWith(entry)
    if (!allowed.some(matches) || refused.some(matches)) foreign.add(origin)
  }
  if (foreign.size > 0) {
    problems.push(
      `${name} of ${specifier}, by ${bundler}, contains ${[...foreign].sort().join(', ')}`
    )
  }
}

/** `src/store/page` of a built file of ours, `@noble/hashes` of a file of a package. */
function originOf(file) {
  const inPackage = file.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)
  return inPackage !== null ? inPackage[1] : file.replace(/^dist\//, 'src/').replace(/\.js$/, '')
}

function ruleOf(specifier, subpath, name, value) {
  let from = specifier
  if (subpath === '.') {
    const origin = entries.find((other) => other.subpath !== '.' && other.module[name] === value)
    from = origin?.specifier ?? specifier
  }
  const rules = allow[from]
  const allowed = rules?.[name] ?? rules?.['*']
  return allowed && { allowed: flat(allowed), refused: flat(rules['!'] ?? []) }
}

function flat(list) {
  return list.flatMap((entry) => groups[entry] ?? [entry])
}

async function examineBareImport(specifier) {
  const { code } = await bundleWithRollup(`import '${specifier}'`, { distrust: true })
  const left = code
    .split('\n')
    .filter(
      (line) =>
        line.trim() !== '' && !/^import '[^']+';$/.test(line) && !/^export \{\s*\};$/.test(line)
    )
  if (left.length > 0) {
    problems.push(
      `import '${specifier}' leaves ${left.length} lines, such as: ${left.slice(0, 5).join(' ⏎ ')}`
    )
  }
}
