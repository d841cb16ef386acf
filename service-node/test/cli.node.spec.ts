import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable } from 'node:stream'
import { expect } from 'chai'
import { parseCommand, UsageError } from '../src/cli/cli-options.ts'
import { CLI, NODE_ARGS, ROOT, runCli } from './helpers/cli.ts'
import { encodeMessage } from './helpers/messages.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'
import { query } from './helpers/store.ts'

describe('parseCommand', () => {
  const wrong: [string, string][] = [
    ['--bogus', "Unknown option '--bogus'"],
    ['stray', "Unexpected argument 'stray'"],
    ['--database', "Option '--database <value>' argument missing"],
    ['--cluster-id 70000', "--cluster-id must be an integer from 0 to 65535, not '70000'"],
    ['--shard x', "--shard must be an integer from 0 to 1023, not 'x'"],
    ['--peer example.org', "--peer must be a multiaddr, not 'example.org'"],
    [
      '--store-rate-limit 5',
      "--store-rate-limit must be a count and a period, for example 5/1s, not '5'"
    ],
    ['--tls-cert file', '--tls-cert and --tls-key belong together'],
    ['--admin-host ::1', '--admin-host needs --admin-port'],
    ['--log-level loud', '--log-level must be one of silent, error, warn, info, debug']
  ]
  for (const [args, text] of wrong) {
    it(`refuses ${args}`, () => {
      expect(() => parseCommand(args.split(' '))).to.throw(UsageError, text)
    })
  }

  it('turns arguments into options', () => {
    const args =
      '--listen /ip4/127.0.0.1/tcp/1 --cluster-id 7 --shard 1 --shard 2 --shard-count 8 --database d --standalone ' +
      '--peer /ip4/127.0.0.1/tcp/2 --max-message-bytes 9 --max-page-limit 8 --max-connections 6 --retention-hours 2 ' +
      '--retention-count 3 --light-push-rate-limit 8/2s --key-file k --admin-port 0 --admin-host ::1 --log-level warn'
    const command = parseCommand(args.split(' '))
    expect(JSON.parse(JSON.stringify(command))).to.deep.equal({
      kind: 'run',
      logLevel: 'warn',
      options: {
        listen: ['/ip4/127.0.0.1/tcp/1'],
        clusterId: 7,
        shards: [1, 2],
        shardCount: 8,
        databaseFile: 'd',
        standalone: true,
        peers: ['/ip4/127.0.0.1/tcp/2'],
        maxMessageBytes: 9,
        maxPageLimit: 8,
        maxConnections: 6,
        retention: { maxAgeMs: 7_200_000, maxCount: 3 },
        rateLimits: {
          lightPush: {
            perService: { count: 8, periodMs: 2000 },
            perPeer: { count: 6, periodMs: 2000 }
          }
        },
        keyFile: 'k',
        admin: { host: '::1', port: 0 }
      }
    })
  })
})

describe('waku-light-service-node', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  function start(args: string[]): { child: ChildProcess; stdout: Interface; stderr: Interface } {
    const child = spawn(process.execPath, [...NODE_ARGS, CLI, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    resources.add(() => child.kill('SIGKILL'))
    const lines = (stream: Readable | null) => createInterface(stream ?? process.stdin)
    return { child, stdout: lines(child.stdout), stderr: lines(child.stderr) }
  }

  it('--help shows every option', async () => {
    const { stdout, stderr, code } = await runCli(['--help'])
    expect([code, stderr]).to.deep.equal([0, ''])
    const options =
      'listen cluster-id shard shard-count peer standalone key-file tls-cert tls-key database retention-hours retention-count max-message-bytes max-page-limit max-connections light-push-rate-limit store-rate-limit admin-port admin-host log-level version help'
    for (const option of options.split(' ')) {
      expect(stdout).to.include(`--${option}`)
    }
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).to.be.at.most(115)
  })

  it('--version prints it', async () => {
    expect((await runCli(['--version'])).stdout).to.match(/^\d+\.\d+\.\d+\n$/)
  })

  it('refuses wrong options in one line, with exit code 2', async () => {
    const runs = await Promise.all([
      runCli(['--bogus']),
      runCli(['--shard', '9', '--shard-count', '8'])
    ])
    expect(runs).to.deep.equal([
      { stdout: '', stderr: "waku-light-service-node: Unknown option '--bogus'\n", code: 2 },
      {
        stdout: '',
        stderr: 'waku-light-service-node: shards must be integers from 0 to 7\n',
        code: 2
      }
    ])
  })

  it('says in one line that a database cannot be opened, with exit code 1', async () => {
    const file = join(resources.directory(), 'missing', 'archive.db')
    const { stdout, stderr, code } = await runCli(['--database', file, '--log-level', 'silent'])
    expect([stdout, code]).to.deep.equal(['', 1])
    expect(stderr).to.match(/^waku-light-service-node: .* cannot be opened: .*\n$/)
  })

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`serves, logs as JSON, and ends cleanly on ${signal}`, async () => {
      const files = resources.directory()
      const database = join(files, 'archive.db')
      const keyFile = join(files, 'key')
      const args = [
        '--standalone',
        '--cluster-id',
        '42',
        '--database',
        database,
        '--key-file',
        keyFile,
        '--admin-port',
        '0'
      ]
      const { child, stdout, stderr } = start(args)
      const logs: Record<string, unknown>[] = []
      stderr.on('line', (line) => logs.push(JSON.parse(line)))
      const addresses: string[] = []
      stdout.on('line', (line) => addresses.push(line))
      await once(stdout, 'line')
      const client = await resources.client()
      expect((await push(client, addresses[0], encodeMessage())).statusCode).to.equal(200)
      expect((await query(client, addresses[0])).hashes).to.have.lengthOf(1)
      expect(
        addresses.every((each) =>
          /^\/ip4\/127\.0\.0\.1\/tcp\/\d+(\/ws)?\/p2p\/16Uiu2HA\w+$/.test(each)
        )
      ).to.equal(true)
      const url = logs.find(({ msg }) => msg === 'node started')?.adminUrl as string
      expect(await (await fetch(`${url}/health`)).json()).to.include({ status: 'ok', messages: 1 })
      child.kill(signal)
      expect(await once(child, 'exit')).to.deep.equal([0, null])
      expect(logs.at(-1)).to.include({ msg: 'node closed' })
      // Closed, not only left: SQLite has tidied up after itself.
      expect(existsSync(`${database}-wal`)).to.equal(false)
      expect(statSync(keyFile).mode & 0o777).to.equal(0o600)
    })
  }

  it('on a Node that is too old says so in one line', async () => {
    const preload = join(resources.directory(), 'old.mjs')
    writeFileSync(
      preload,
      `Object.defineProperty(process.versions, 'node', { value: '20.11.0' })\n`
    )
    const env = { ...process.env, WAKU_LIGHT_NODE_RESTARTED: '1' }
    const child = spawn(process.execPath, ['--import', preload, CLI], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'ignore', 'pipe']
    })
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    const [code] = await once(child, 'close')
    expect([code, stderr]).to.deep.equal([
      1,
      'waku-light-service-node needs Node.js 22.13 or newer, this is 20.11.0\n'
    ])
  })
})
