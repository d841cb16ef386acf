// Makes src/wire/generated/ from protos/: protons writes the types and codecs; of the codecs, the table of their fields is kept,
// by which src/wire/fields.ts reads (strictly) and src/wire/write-fields.ts writes (with the writer of protons-runtime).
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

/** Makes of each `export namespace X` a table `XFields`, by which all messages are read and written. */
function withoutNamespaces(code, source) {
  const kept = code.replace(/^export namespace (\w+) \{\n(.*?)^\}\n/gms, (_, name, body) => {
    const decode = body.match(
      /\(reader, length, opts = \{\}\) => \{\n.*?\n {6}\}, function \* \(\) \{\}\)\n/s
    )
    if (decode === null) {
      throw new Error(
        `protons writes another form now: look at ${source} and at withoutNamespaces()`
      )
    }
    return `export const ${name}Fields: Fields = {\n${toFields(decode[0], source)}\n}\n`
  })
  return kept
    .replace(/^import .*\n/gm, '')
    .replace(/^(\/\/ Generated .*\n)/, "$1import type { Fields } from '../fields.ts'\n")
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
