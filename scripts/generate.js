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
 * Makes of each `export namespace X` a function `writeX`, with a codec that only encodes, and a table `XFields` for the strict
 * reader of fields.ts, so that a bundle holds what is in use only.
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
    const encode = halves[1].replace(/^ {4}/gm, '')
    const codec = writer(name)
    return `let _${codec}: Codec<${name}> | undefined

function ${codec} (): Codec<${name}> {
  _${codec} ??= message<${name}>(${encode}, unused, unused)
  return _${codec}
}

export function write${name} (obj: Partial<${name}>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, ${codec}())
}

export const ${name}Fields: Fields = {
${toFields(halves[2], source)}
}
`
  })
  return kept
    .replace(/(\w+)\.codec\(\)\.encode\(/g, (_, name) => `${writer(name)}().encode(`)
    .replace(
      /^import \{.*\} from 'protons-runtime'\n/m,
      "import { encodeMessage, message } from 'protons-runtime'\n"
    )
    .replace(
      /^import type \{ Codec, DecodeOptions \} from 'protons-runtime'\nimport type \{ Uint8ArrayList \} from 'uint8arraylist'\n/m,
      `import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
}
`
    )
}

/** The table of what a generated decoder reads: `1: ['name', kind]`, with `true` behind it for a repeated field. */
function toFields(decode, source) {
  const cases = [...decode.matchAll(/case (\d+): \{\n(.*?)\n {12}\}/gs)]
  return cases
    .map(([, number, body]) => {
      const field = body.match(
        /obj\.(\w+)( = |\.push\()(?:reader\.(uint32|uint64|int64|sint64|bool|float|bytes|string)\(\)|(\w+)\.codec\(\)\.decode\()/
      )
      if (field === null) {
        throw new Error(`a field of ${source} is of a kind that fields.ts does not read: ${body}`)
      }
      const [, name, how, scalar, nested] = field
      const kind = scalar === undefined ? `() => ${nested}Fields` : `'${scalar}'`
      return `  ${number}: ['${name}', ${kind}${how === '.push(' ? ', true' : ''}]`
    })
    .join(',\n')
}

function writer(name) {
  return `${name[0].toLowerCase()}${name.slice(1)}Writer`
}
