// What a message costs to be walked through, the more a service node holds: 1,000 to 100,000 messages of 300 bytes, and
// 1,000,000 with MILLION=1. The node's own share is told apart: its processor time, and the time of a client that reads the
// same pages and does not decode them. Node and client have a process each, and fresh ones for each count.
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Growth } from './lib/growth-client.ts'
import { keepResults, printTable } from './lib/results.ts'

const CONTENT_TOPIC = '/bench/1/growth/bytes'

const counts = (process.env['COUNTS'] ?? '1000,10000,100000').split(',').map(Number)
if (process.env['MILLION'] !== undefined) {
  counts.push(1_000_000)
}

const inLib = (name: string): string => fileURLToPath(new URL(`lib/${name}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'waku-light-growth-'))
try {
  const rows = []
  for (const count of counts) {
    const args = [join(folder, `${count}.db`), String(count), CONTENT_TOPIC]
    execFileSync(process.execPath, ['--import=tsx', inLib('fill-archive.ts'), ...args])
    const client = fork(inLib('growth-client.ts'), args, { execArgv: ['--expose-gc'] })
    const [growth] = (await Promise.race([once(client, 'message'), failure(client)])) as [Growth]
    rows.push({ stored: count, ...growth })
    rmSync(args[0] as string, { force: true })
  }
  printTable(rows)
  keepResults('growth', { payloadBytes: 300, pageLimit: 100 }, rows)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function failure(client: ReturnType<typeof fork>): Promise<never> {
  const [code] = (await once(client, 'exit')) as [number]
  throw new Error(`the client ended with ${code}`)
}
