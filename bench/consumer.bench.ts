// Bytes as an app gets them: the package is packed, installed alone in an empty project from the registry, and bundled by
// esbuild. What is measured on top of something else is the difference of two bundles. Fails where an app would get a second
// copy of a package that scripts/copies.json does not name.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'
import { build } from 'esbuild'
import { keepResults, printTable } from './lib/results.ts'

type Copies = ReadonlyMap<string, readonly string[]>

interface CopiesModule {
  installedCopies(lockfile: unknown): Copies
  bundledCopies(files: Iterable<string>): Copies
  strayCopies(copies: Copies): readonly string[]
  toLines(copies: Copies): readonly string[]
}

interface Size {
  readonly raw: number
  readonly gzip: number
  readonly brotli: number
  /** The files that left bytes in the bundle. */
  readonly files: readonly string[]
}

type Imports = Readonly<Record<string, readonly string[]>>

/** What the issue counts from: libp2p as an app of its own would have it. */
const STACK: Imports = {
  libp2p: ['createLibp2p'],
  '@libp2p/websockets': ['webSockets'],
  '@chainsafe/libp2p-noise': ['noise'],
  '@chainsafe/libp2p-yamux': ['yamux'],
  '@libp2p/identify': ['identify'],
  '@libp2p/ping': ['ping']
}
const TURNS = 8
const PARAMS = { [zlib.BROTLI_PARAM_QUALITY]: 11 }
const PUSH: Imports = { 'waku-light/light-push': ['LightPushClient'] }
const STORE: Imports = { 'waku-light/store': ['StoreClient'] }
const CLIENTS: Imports = { 'waku-light/node': ['createLightNode'], ...PUSH, ...STORE }
const EXTRAS: readonly (readonly [string, Imports, number])[] = [
  ['outbox', { 'waku-light/outbox': ['createOutbox', 'indexedDbStorage'] }, 4_000],
  ['archive', { 'waku-light/archive': ['createIndexedDbArchive'] }, 4_000],
  ['resume', { 'waku-light/resume': ['createResume'] }, 4_000],
  ['sync', { 'waku-light/sync': ['createSync'] }, 9_000]
]

const root = fileURLToPath(new URL('..', import.meta.url))
const { installedCopies, bundledCopies, strayCopies, toLines } = (await import(
  new URL('../scripts/lib/copies.js', import.meta.url).href
)) as CopiesModule

const project = mkdtempSync(join(tmpdir(), 'waku-light-consumer-'))
try {
  const npm = (...args: string[]): string =>
    execFileSync('npm', [...args, '--silent', '--ignore-scripts'], {
      cwd: project,
      encoding: 'utf8'
    }).trim()
  const tarball = npm('pack', root, '--pack-destination', project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true }))
  npm('install', '--prefer-offline', `./${tarball}`)
  const lockfile: unknown = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))

  const clients = await sizeOf(CLIENTS)
  const all = await sizeOf(Object.assign({}, CLIENTS, ...EXTRAS.map(([, imports]) => imports)))
  judge('installed', installedCopies(lockfile))
  judge('bundled', bundledCopies(all.files))

  // Which the library does without, so that it is not there yet; it takes part in nothing but the stack.
  npm('install', '--prefer-offline', '@libp2p/ping@^3')
  const stack = await sizeOf(STACK)
  const rows = [
    row('stack alone', stack),
    row('node, LightPushClient and StoreClient', clients),
    row('the same, on top of the stack', minus(clients, stack), 14_000)
  ]
  for (const [name, imports, budget] of EXTRAS) {
    const more = await sizeOf({ ...CLIENTS, ...imports })
    rows.push(row(`${name}, on top of these`, minus(more, clients), budget))
  }
  rows.push(row('LightPushClient alone', await sizeOf(PUSH), 18_000))
  rows.push(row('StoreClient alone', await sizeOf(STORE), 20_000))
  printTable(rows)
  keepResults(
    'consumer',
    { bundler: 'esbuild', brotliQuality: 11, gzipLevel: 9, meanOfTurns: TURNS },
    rows
  )
} finally {
  rmSync(project, { recursive: true, force: true })
}

async function sizeOf(imports: Imports): Promise<Size> {
  const contents = Object.entries(imports)
    .map(([specifier, names]) => `export { ${names.join(', ')} } from '${specifier}'`)
    .join('\n')
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: project, sourcefile: 'entry' },
    absWorkingDir: project,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
    outfile: 'out.js',
    legalComments: 'none',
    logLevel: 'error'
  })
  const bytes = outputFiles[0]?.contents ?? new Uint8Array()
  const inputs = Object.entries(metafile.outputs['out.js']?.inputs ?? {})
  return {
    raw: bytes.length,
    gzip: meanOfTurns(bytes, (turned) => gzipSync(turned, { level: 9 })),
    brotli: meanOfTurns(bytes, (turned) => brotliCompressSync(turned, { params: PARAMS })),
    files: inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []))
  }
}

/** The bundle compressed as it is, and begun in other places: what a compressor makes of where it stands is 0.2 kB of chance. */
function meanOfTurns(bytes: Uint8Array, compress: (turned: Uint8Array) => Uint8Array): number {
  const sizes = Array.from({ length: TURNS }, (_, turn) => {
    const start = Math.floor((bytes.length * turn) / TURNS)
    return compress(Buffer.concat([bytes.subarray(start), bytes.subarray(0, start)])).length
  })
  return Math.round(sizes.reduce((a, b) => a + b) / TURNS)
}

function minus(a: Size, b: Size): Omit<Size, 'files'> {
  return { raw: a.raw - b.raw, gzip: a.gzip - b.gzip, brotli: a.brotli - b.brotli }
}

function row(
  imports: string,
  { raw, gzip, brotli }: Omit<Size, 'files'>,
  budget?: number
): Record<string, string | number | undefined> {
  return { imports, raw, gzip, brotli, budget }
}

function judge(what: string, copies: Copies): void {
  console.log(`${what}: ${copies.size} packages; ${toLines(copies).join(', ')}`)
  const strays = strayCopies(copies)
  if (strays.length > 0) {
    console.error(`${what}, and not named in scripts/copies.json: ${strays.join(', ')}`)
    process.exitCode = 1
  }
}
