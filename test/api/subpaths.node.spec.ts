import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Which of the specifiers a plain Node resolves, by name and through the exports map. */
function resolvable(specifiers: readonly string[]): string[] {
  const code = `
    const resolves = (specifier) => { try { import.meta.resolve(specifier); return true } catch { return false } }
    console.log(JSON.stringify(${JSON.stringify(specifiers)}.filter(resolves)))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root
  })
  return JSON.parse(output.toString()) as string[]
}

describe('exports map', () => {
  it('resolves the public subpaths', () => {
    const specifiers = ['waku-light', 'waku-light/store/beta2', 'waku-light/package.json']
    expect(resolvable(specifiers)).to.deep.equal(specifiers)
  })

  it('refuses everything inside', () => {
    const inside = [
      'dist/errors.js',
      'transport',
      'lib/bytes',
      'wire/generated/message',
      'src/index.ts'
    ]
    expect(resolvable(inside.map((path) => `waku-light/${path}`))).to.deep.equal([])
  })
})
