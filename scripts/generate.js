// Makes src/wire/generated/ from protos/: protons writes the codecs, and what nothing here uses (its streaming decoder
// and the types of that) is left out, since a bundler cannot drop it from a namespace; and each namespace becomes a
// constant made by a call marked as pure, since a bundler that trusts no side-effects flag keeps every namespace.
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
      withoutStreaming(readFileSync(join(folder, name), 'utf8'), source)
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

/** Makes `export const X = (() => { … return { codec, encode, decode } })()` of each `export namespace X`. */
function withoutNamespaces(code) {
  return code.replace(/^export namespace (\w+) \{\n(.*?)^\}\n/gms, (_, name, body) => {
    const names = [...body.matchAll(/^ {2}export (?:const|function) (\w+)/gm)].map(
      ([, exported]) => exported
    )
    const local = body.replace(/^ {2}export /gm, '  ')
    return `export const ${name} = /* @__PURE__ */ (() => {\n${local}\n  return { ${names.join(', ')} }\n})()\n`
  })
}
