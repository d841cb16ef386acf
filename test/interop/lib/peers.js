// Builds and installs the foreign peers, each only if something has changed since the last time.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.js'

const GO_FOLDER = join(import.meta.dirname, '../go-waku')
const JS_FOLDER = join(import.meta.dirname, '../js-waku')
const OLDEST_GO = [1, 23]
const MINUTE_MS = 60_000

/** Versions of the foreign peers, as their lock files have them. */
export function versions() {
  const goModule = readFileSync(join(GO_FOLDER, 'go.mod'), 'utf8')
  const lock = JSON.parse(readFileSync(join(JS_FOLDER, 'package-lock.json'), 'utf8'))
  return {
    'go-waku': /waku-org\/go-waku v(\S+)/.exec(goModule)[1],
    'js-waku': `(@waku/sdk ${lock.packages['node_modules/@waku/sdk'].version})`
  }
}

/** What this machine lacks to build go-waku, in words; undefined if it lacks nothing. */
export async function missingForGoWaku() {
  const options = { cwd: GO_FOLDER, timeoutMs: MINUTE_MS, env: { GOTOOLCHAIN: 'local' } }
  const go = await run('go', ['version'], options)
  const compiler = process.env.CC ?? 'gcc'
  const gcc = await run(compiler, ['--version'], options)
  const found = go.ok ? /go(\d+)\.(\d+)\S*/.exec(go.text) : null
  const [major, minor] = OLDEST_GO
  const isOld = found && (found[1] < major || (Number(found[1]) === major && found[2] < minor))
  const missing = []
  if (!found || isOld) {
    missing.push(
      `Go ${OLDEST_GO.join('.')} or newer (${found ? `found ${found[0]}` : 'found none'})`
    )
  }
  if (!gcc.ok) missing.push(`${compiler}, which SQLite is built with`)
  return missing.length === 0 ? undefined : missing.join(', and ')
}

/** Go's own cache decides what there is to do: minutes the first time, then nothing. */
export async function buildGoWaku() {
  const args = ['build', '-tags', 'gowaku_no_rln', '-buildvcs=false', '-trimpath']
  return await run('go', [...args, '-o', 'build/go-waku-peer', '.'], {
    cwd: GO_FOLDER,
    timeoutMs: 20 * MINUTE_MS,
    env: { CGO_ENABLED: '1', GOTOOLCHAIN: 'local' }
  })
}

/** Installs what the lock file says, unless that is installed. */
export async function installJsWaku() {
  const lock = readFileSync(join(JS_FOLDER, 'package-lock.json'))
  const wanted = createHash('sha256').update(lock).digest('hex')
  const stamp = join(JS_FOLDER, 'node_modules/.installed-from')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) {
    return { ok: true, text: '', seconds: '0.0' }
  }
  const args = ['ci', '--ignore-scripts', '--no-progress']
  const result = await run('npm', args, { cwd: JS_FOLDER, timeoutMs: 10 * MINUTE_MS })
  if (result.ok) writeFileSync(stamp, wanted)
  return result
}
