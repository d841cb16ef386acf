// The samples of code in README.md and docs/ are checked by the compiler: each block of ts is a module of its own, over what
// samples.d.ts gives it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './package.js'

const SAMPLE = /^```ts\n([^]*?)^```/gm
const folder = join(root, '.cache/samples')

/** What the compiler says of them, each with the line of its document; empty if all is well. */
export function checkSamples() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const places = new Map(
    samples().map(({ document, line, code }, index) => {
      writeFileSync(join(folder, `sample-${index}.ts`), `${code}\nexport {}\n`)
      return [`sample-${index}.ts`, { document, line }]
    })
  )
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { noEmit: true, noUnusedLocals: false, noUnusedParameters: false },
      include: ['*.ts', '../../scripts/lib/samples.d.ts'],
      exclude: []
    })
  )
  const { status, stdout } = spawnSync('tsc', ['-p', folder, '--pretty', 'false'], {
    encoding: 'utf8'
  })
  if (status === 0) return []
  return stdout
    .trim()
    .split('\n')
    .map((report) =>
      report.replace(/^.*?(sample-\d+\.ts)\((\d+),\d+\)/, (_, name, line) => {
        const place = places.get(name)
        return `${place.document}:${place.line + Number(line)}`
      })
    )
}

function samples() {
  const documents = [
    'README.md',
    ...readdirSync(join(root, 'docs'))
      .filter(isMarkdown)
      .map((name) => `docs/${name}`)
  ]
  return documents.flatMap((document) => {
    const text = readFileSync(join(root, document), 'utf8')
    return Array.from(text.matchAll(SAMPLE), ({ 1: code, index }) => ({
      document,
      line: text.slice(0, index).split('\n').length,
      code
    }))
  })
}

function isMarkdown(name) {
  return name.endsWith('.md')
}
