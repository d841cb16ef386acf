// The README's tables of speed and of bytes as an app gets them, from what the benches kept of their last run.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './package.js'

/** Markdown; undefined while one of the benches has kept nothing yet: the README then stays as it is. */
export function benchTables() {
  const tables = [consumer, throughput, roundTrips, growth].map((make) => make())
  return tables.includes(undefined) ? undefined : tables.join('\n\n')
}

function consumer() {
  const run = lastRun('consumer')
  const rows = run?.rows.map(({ imports, raw, gzip, brotli }) => [
    imports,
    ...[brotli, gzip, raw].map(kB)
  ])
  return section(
    run,
    'Bytes as an app gets them: packed, installed alone, bundled and minified by esbuild',
    [['', 'brotli', 'gzip', 'raw'], rows]
  )
}

function throughput() {
  const run = lastRun('throughput')
  const names = {
    pushes: 'pushes a second, one after another',
    pushesAt32: 'pushes a second, 32 at a time',
    pushCpuUs: 'processor time of the client for one of these, microseconds',
    messages: 'messages a second, paging as by default (100 a page; 20)',
    messagesAtBest: 'messages a second, as each does it best (`parallel(8)`; 100 a page)',
    messageCpuAtBestUs: 'processor time of the client for one of these, microseconds',
    peakMiB: 'peak memory over idle, MiB'
  }
  return section(
    run,
    `${number(run?.conditions.count)} messages of 300 bytes, client and service node in processes of their own; waku-light recomputes each hash`,
    [
      ['', ...(run?.rows.map(({ client }) => client) ?? [])],
      Object.entries(names).map(([key, title]) => [
        title,
        ...(run?.rows.map((row) => number(row[key])) ?? [])
      ])
    ]
  )
}

function roundTrips() {
  const run = lastRun('round-trips')
  const names = {
    firstPush: 'create to first acknowledged push',
    firstPushLearning: 'the same, with the network to be learnt',
    firstPage: 'create to first page',
    warmPush: 'warm push',
    nextPage: 'next page'
  }
  const heads = { 'sent ahead': 'negotiation sent ahead', plain: '`sendAhead: false`' }
  const inPage = run?.rows.filter(({ platform }) => platform === 'Chromium') ?? []
  return section(
    inPage.length === 0 ? undefined : run,
    `Round trips of ${run?.conditions.roundTripMs} ms, websocket upgrade counted, in Chromium ([how](docs/round-trips.md))`,
    [
      ['', ...inPage.map(({ negotiation }) => heads[negotiation])],
      Object.entries(names).map(([key, title]) => [
        title,
        ...inPage.map((row) => row[key].toFixed(2))
      ])
    ]
  )
}

function growth() {
  const run = lastRun('growth')
  const names = {
    walkUs: 'by the clock, each message verified',
    clientCpuUs: 'processor time of the client',
    nodeCpuUs: 'processor time of the service node',
    rawUs: 'by the clock, frames not decoded',
    frontUs: 'the first pages alone',
    middleUs: 'pages from the middle alone',
    peakMiB: 'peak memory over idle, MiB',
    laterPeakMiB: 'its peak in the second half of a walk over that in the first, MiB',
    keptMiB: 'still held afterwards, more than before, MiB'
  }
  return section(
    run,
    'Microseconds for each message of a walk, by how many the service node holds',
    [
      ['', ...(run?.rows.map(({ stored }) => number(stored)) ?? [])],
      Object.entries(names).map(([key, title]) => [
        title,
        // what was collected meanwhile makes less than nothing of it
        ...(run?.rows.map((row) => number(Math.max(0, row[key]))) ?? [])
      ])
    ]
  )
}

function lastRun(name) {
  const file = join(root, 'bench/results', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

function section(run, what, [head, rows]) {
  if (run === undefined) return undefined
  const { date, machine, versions } = run
  const others = Object.entries(versions)
    .filter(([name]) => name !== 'node' && name !== 'waku-light')
    .map(([name, version]) => `, ${name} ${version}`)
    .join('')
  return [
    `${what} (${date}, ${machine.cores} cores of ${machine.cpu} under a load of ${machine.loadAtStart}, Node ${versions.node}${others}):`,
    [
      row(head),
      `|${head.map((_, column) => (column === 0 ? '---' : '---:')).join('|')}|`,
      ...rows.map(row)
    ].join('\n')
  ].join('\n\n')
}

function row(cells) {
  return `| ${cells.join(' | ')} |`
}

/** Three digits: one decimal below a hundred. */
function number(value) {
  const digits = value < 100 ? 1 : 0
  return (
    value?.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }) ??
    ''
  )
}

function kB(bytes) {
  return bytes === undefined ? '' : `${(bytes / 1000).toFixed(1)} kB`
}
