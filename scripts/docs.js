// Keeps the written documentation true: writes the tables of README.md between their markers, and checks that
// docs/conformance.md and docs/reliability.md name tests that exist for every requirement, and that the samples of code compile.
// With --check it writes nothing and fails where the tables are not those of the source.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureTable, toMarkdown } from '../bench/sizes.js'
import { benchTables } from './lib/bench-tables.js'
import { root } from './lib/package.js'
import { checkSamples } from './lib/samples.js'

/** How many requirements there are of each family. */
const REQUIREMENTS = numbered({ LP: 8, ST: 15, MS: 3, SY: 9, MD: 2 })

/** What docs/reliability.md answers for; installing and syncing are shown elsewhere. */
const THEMES = numbered({ RE: 15 }).filter((id) => id !== 'RE-12')

const check = process.argv.includes('--check')
const problems = []

await readme('README.md')
conformance('docs/conformance.md', REQUIREMENTS)
conformance('docs/reliability.md', THEMES)
problems.push(...checkSamples())
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}

async function readme(name) {
  const file = join(root, name)
  if (!existsSync(file)) {
    problems.push(`${name} is missing`)
    return
  }
  const old = readFileSync(file, 'utf8')
  let text = old
  for (const [marker, make] of Object.entries({
    sizes: sizesTable,
    errors: errorsTable,
    bench: benchTables
  })) {
    const pattern = new RegExp(`(<!-- ${marker} -->\n)[^]*?(<!-- /${marker} -->)`)
    if (!pattern.test(text)) {
      problems.push(`${name} has no <!-- ${marker} --> … <!-- /${marker} -->`)
      continue
    }
    const table = await make()
    if (table === undefined) continue
    const replaced = text.replace(pattern, (_, open, close) => `${open}\n${table}\n\n${close}`)
    if (check && replaced !== text) {
      problems.push(`${name}: the table of ${marker} is not that of the source (npm run docs)`)
    }
    text = replaced
  }
  if (!check && text !== old) writeFileSync(file, text)
}

async function sizesTable() {
  return toMarkdown(await measureTable())
}

async function errorsTable() {
  const { ERROR_CODES } = await import('../dist/errors.js')
  const rows = Object.entries(ERROR_CODES).map(([code, { cause, retryHelps, whatToDo }]) =>
    [`\`${code}\``, cause, retryHelps ? 'yes' : 'no', whatToDo]
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | ')
  )
  return [
    '| code | cause | retry helps | what to do |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`)
  ].join('\n')
}

/**
 * Each id has a row `| LP-1 | … |` that says `open`, or names tests as `test/file.spec.ts > part of a title`, each in
 * backticks. `>` goes from a suite to a test in it.
 */
function conformance(name, known) {
  const file = join(root, name)
  if (!existsSync(file)) {
    problems.push(`${name} is missing`)
    return
  }
  const rows = new Map()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const id = line.match(/^\|\s*([A-Z]{2}-\d+)\s*\|/)?.[1]
    if (id === undefined) continue
    if (rows.has(id)) problems.push(`${name}: ${id} has two rows`)
    rows.set(id, line)
  }
  for (const id of known.filter((one) => !rows.has(one))) problems.push(`${name}: ${id} has no row`)
  for (const id of [...rows.keys()].filter((one) => !known.includes(one)))
    problems.push(`${name}: ${id} is no requirement`)
  for (const [id, line] of rows) {
    const references = [...line.matchAll(/`((?:service-node\/)?test\/[^`>]+?\.ts)\s*>\s*([^`]+)`/g)]
    if (references.length === 0 && !/\|\s*open\b/.test(line)) {
      problems.push(`${name}: ${id} names no test and is not open`)
    }
    for (const [, spec, title] of references) {
      const missing = existsSync(join(root, spec))
        ? titleProblem(spec, title)
        : 'there is no such file'
      if (missing !== undefined) problems.push(`${name}: ${id}: ${spec} > ${title}: ${missing}`)
    }
  }
}

function numbered(families) {
  return Object.entries(families).flatMap(([family, count]) =>
    Array.from({ length: count }, (_, index) => `${family}-${index + 1}`)
  )
}

function titleProblem(spec, title) {
  const source = readFileSync(join(root, spec), 'utf8')
  const titles = [
    ...source.matchAll(/\b(?:describe|it)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1)[^])*)\1/g)
  ].map(([, , text]) => text.replace(/\\(.)/g, '$1'))
  const lost = title
    .split(' > ')
    .map((part) => part.trim())
    .find((part) => !titles.some((one) => one.includes(part)))
  return lost === undefined ? undefined : `no test or suite has "${lost}" in its title`
}
