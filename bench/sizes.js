// Brotli bytes of each public import, bundled and minified as an app's build does it, against the budgets in sizes.json.
//
//   node bench/sizes.js            prints the table, fails where a budget is exceeded or missing
//   node bench/sizes.js --update   writes budgets for new names and lowers those that have become too generous; a budget
//                                  is raised by hand only, with a sentence in the changelog
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWithEsbuild } from '../scripts/lib/bundle.js'
import { publicExports, root } from '../scripts/lib/package.js'

const file = fileURLToPath(new URL('sizes.json', import.meta.url))

/** The rows of the table, measured: `[{ title, imports, maxBytes, brotliBytes }]`. */
export async function measureTable() {
  const { table } = JSON.parse(readFileSync(file, 'utf8'))
  return await Promise.all(
    table.map(async (row) => ({ ...row, brotliBytes: await sizeOf(row.imports) }))
  )
}

/** The table for the README. */
export function toMarkdown(rows) {
  const lines = rows.map(
    ({ title, brotliBytes, maxBytes }) => `| ${title} | ${kB(brotliBytes)} | ${kB(maxBytes)} |`
  )
  return ['| import | brotli | budget |', '|---|---:|---:|', ...lines].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.includes('--update'))
}

async function main(update) {
  const config = JSON.parse(readFileSync(file, 'utf8'))
  const problems = []
  const rows = await measureTable()
  const width = Math.max(...rows.map(({ title }) => plain(title).length))
  for (const { title, brotliBytes, maxBytes } of rows) {
    const over = brotliBytes > maxBytes
    console.log(
      `${plain(title).padEnd(width)}  ${kB(brotliBytes).padStart(9)} of ${kB(maxBytes).padStart(9)}${over ? '  over budget' : ''}`
    )
    if (over) problems.push(`${plain(title)}: ${brotliBytes} B, budget ${maxBytes} B`)
  }

  const names = {}
  let count = 0
  for (const [specifier, exported] of await namesOnce()) {
    const budgets = config.names[specifier] ?? {}
    names[specifier] = {}
    const sizes = await Promise.all(
      exported.map(async (name) => [name, await sizeOf({ [specifier]: [name] })])
    )
    for (const [name, bytes] of sizes) {
      count++
      const budget = budgets[name]
      names[specifier][name] = Math.min(budget ?? Number.POSITIVE_INFINITY, withMargin(bytes))
      if (budget !== undefined && bytes > budget) {
        names[specifier][name] = budget
        problems.push(`${name} of ${specifier}: ${bytes} B, budget ${budget} B`)
      } else if (budget === undefined && !update) {
        problems.push(
          `${name} of ${specifier}: ${bytes} B, no budget yet (node bench/sizes.js --update)`
        )
      }
    }
    for (const gone of Object.keys(budgets).filter((name) => !exported.includes(name))) {
      if (!update)
        problems.push(
          `${gone} of ${specifier} has a budget but is not exported (node bench/sizes.js --update)`
        )
    }
  }
  if (update) {
    writeFileSync(file, `${JSON.stringify({ ...config, names }, null, 2)}\n`)
    execFileSync('npx', ['biome', 'format', '--write', '--log-level=error', file], { cwd: root })
  }
  console.log(
    `${count} public names, each alone: ${problems.length === 0 ? 'all within their budgets' : 'see below'}`
  )
  if (problems.length > 0) {
    console.error(problems.join('\n'))
    process.exitCode = 1
  }
}

/** The public names by specifier; those of the main entry that a subpath exports as well are that subpath's. */
async function namesOnce() {
  const entries = await publicExports()
  const elsewhere = entries.filter(({ subpath }) => subpath !== '.')
  return entries.map(({ specifier, subpath, names, module }) => [
    specifier,
    names.filter(
      (name) => subpath !== '.' || !elsewhere.some((other) => other.module[name] === module[name])
    )
  ])
}

async function sizeOf(imports) {
  return (await bundleWithEsbuild(imports)).brotliBytes
}

/** A little room, so that a changed word in a message is no event: 4 %, in steps of 100 bytes. */
function withMargin(bytes) {
  return Math.ceil((bytes * 1.04) / 100) * 100
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function plain(title) {
  return title.replaceAll('`', '')
}
