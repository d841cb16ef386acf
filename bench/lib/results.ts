import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

/** One line of a table: what was measured under which circumstances. */
export type Row = Readonly<Record<string, string | number | undefined>>

const root = new URL('../../', import.meta.url)

/** Taken when the bench starts: what the machine was busy with before. */
const [loadAtStart = 0] = loadavg()

/**
 * Keeps what a bench measured in bench/results, over its last run: date, machine, versions, and the rows. The machine is told
 * by what it is made of, not by its name.
 *
 * @param bench - the file's name
 * @param conditions - what the figures depend on: counts, sizes, delays
 * @param rows - the figures, units in their names
 * @param versions - of what else took part
 */
export function keepResults(
  bench: string,
  conditions: Row,
  rows: readonly Row[],
  versions: Row = {}
): void {
  const results = {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cpu: cpus()[0]?.model,
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${platform()} ${arch()}`,
      loadAtStart: round(loadAtStart)
    },
    versions: {
      node: process.versions.node,
      'waku-light': packageVersion('package.json'),
      ...versions
    },
    conditions,
    rows: rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'number' ? round(value) : value
        ])
      )
    )
  }
  mkdirSync(new URL('bench/results/', root), { recursive: true })
  writeFileSync(
    new URL(`bench/results/${bench}.json`, root),
    `${JSON.stringify(results, null, 2)}\n`
  )
}

/** The version in a package.json; undefined if there is none. */
export function packageVersion(file: string): string | undefined {
  try {
    const text = readFileSync(fileURLToPath(new URL(file, root)), 'utf8')
    return (JSON.parse(text) as { version?: string }).version
  } catch {
    return undefined
  }
}

/** Rows as a table on the console: names above, numbers to the right. */
export function printTable(rows: readonly Row[]): void {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const columns = names.map((name) => {
    const cells = [name, ...rows.map((row) => cell(row[name]))]
    const width = Math.max(...cells.map((text) => text.length))
    const isText = rows.some((row) => typeof row[name] === 'string')
    return cells.map((text) => (isText ? text.padEnd(width) : text.padStart(width)))
  })
  for (let line = 0; line <= rows.length; line++) {
    console.log(
      columns
        .map((cells) => cells[line])
        .join('  ')
        .trimEnd()
    )
  }
}

function cell(value: string | number | undefined): string {
  return typeof value === 'number' ? round(value).toLocaleString('en') : (value ?? '')
}

/** Three digits that count are more than a run repeats. */
function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}
