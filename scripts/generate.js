// Makes src/wire/generated/ from protos/: protons writes the codecs, and they are cut into functions that a bundler can drop
// one by one; what nothing here uses (the streaming decoder and the types of that) is left out.
// With --check it only compares, and fails on a difference.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'src/wire/generated')
const check = process.argv.includes('--check')

const sources = readdirSync(join(root, 'protos'))
  .filter((name) => name.endsWith('.proto'))
  .sort()
const folder = mkdtempSync(join(tmpdir(), 'waku-light-generate-'))

try {
  const protons = join(root, 'node_modules/protons/dist/bin/protons.js')
  const result = spawnSync(
    process.execPath,
    [protons, '--strict', '--output', folder, ...sources.map((name) => join(root, 'protos', name))],
    { encoding: 'utf8' }
  )
  if (result.status !== 0) {
    throw new Error(`protons failed: ${result.stderr}${result.stdout}`)
  }
  const different = []
  for (const source of sources) {
    const name = source.replace(/\.proto$/, '.ts')
    const code = withoutNamespaces(
      withoutStreaming(readFileSync(join(folder, name), 'utf8'), source),
      source
    )
    const path = join(target, name)
    if (check) {
      if (code !== readFileSync(path, { encoding: 'utf8' })) {
        different.push(name)
      }
    } else {
      writeFileSync(path, code)
    }
  }
  const extra = readdirSync(target).filter(
    (name) => !sources.includes(name.replace(/\.ts$/, '.proto'))
  )
  different.push(...extra)
  if (different.length > 0) {
    throw new Error(
      `src/wire/generated is not what protos/ makes: ${different.join(', ')} (npm run generate)`
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** Empties the third argument of each `message()` call; cuts the `stream` functions and their event types. */
function withoutStreaming(code, source) {
  const kept = code
    .replace(
      /\}, function \* \(reader, length, prefix, opts = \{\}\) \{\n.*?\n {6}\}\)\n/gs,
      '}, function * () {})\n'
    )
    .replace(/\n {2}export interface \w+FieldEvent \{\n.*?\n {2}\}\n/gs, '')
    .replace(/\n {2}export function stream .*?\n {2}\}\n/gs, '')
    .replace(/, streamMessage/, '')
  if (/stream|FieldEvent|yield/i.test(kept)) {
    throw new Error(`protons writes another form now: look at ${source} and at withoutStreaming()`)
  }
  const header = `// Generated from protos/${source} by \`npm run generate\`. Do not edit.\n`
  return header + kept
}

/**
 * Makes two functions of each `export namespace X`, `writeX` and `readX`, each with a codec of its own, so that a bundle
 * holds the directions in use only.
 */
function withoutNamespaces(code, source) {
  const kept = code.replace(/^export namespace (\w+) \{\n(.*?)^\}\n/gms, (_, name, body) => {
    const halves = body.match(
      /message<\w+>\((\(obj, w, opts = \{\}\) => \{\n.*?\n {6}\}), (\(reader, length, opts = \{\}\) => \{\n.*?\n {6}\}), function \* \(\) \{\}\)\n/s
    )
    if (halves === null) {
      throw new Error(
        `protons writes another form now: look at ${source} and at withoutNamespaces()`
      )
    }
    const [, encode, decode] = halves.map((half) => half.replace(/^ {4}/gm, ''))
    return [
      codec(name, 'Writer', `${encode}, unused, unused`),
      `export function write${name} (obj: Partial<${name}>): Uint8Array<ArrayBuffer> {\n  return encodeMessage(obj, ${writer(name)}())\n}\n`,
      codec(name, 'Reader', `unused, ${decode}, unused`),
      `export function read${name} (buf: Uint8Array, opts?: DecodeOptions<${name}>): ${name} {\n  return decodeMessage(buf, ${reader(name)}(), opts)\n}\n`
    ].join('\n')
  })
  return kept
    .replace(/(\w+)\.codec\(\)\.encode\(/g, (_, name) => `${writer(name)}().encode(`)
    .replace(/(\w+)\.codec\(\)\.decode\(/g, (_, name) => `${reader(name)}().decode(`)
    .replace(/^import type \{ Uint8ArrayList \} from 'uint8arraylist'\n/m, '')
    .replace(
      /\n\n(?=export)/,
      "\n\nfunction unused (): never {\n  throw new Error('this direction is not in use')\n}\n\n"
    )
}

function writer(name) {
  return `${name[0].toLowerCase()}${name.slice(1)}Writer`
}

function reader(name) {
  return `${name[0].toLowerCase()}${name.slice(1)}Reader`
}

function codec(name, half, halves) {
  const variable = half === 'Writer' ? writer(name) : reader(name)
  return `let _${variable}: Codec<${name}> | undefined\n\nfunction ${variable} (): Codec<${name}> {\n  _${variable} ??= message<${name}>(${halves})\n  return _${variable}\n}\n`
}
