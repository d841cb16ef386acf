// The names that each subpath of the built package exports at run time. A difference is a change of the API: look at it,
// then take it over with UPDATE_API=1 npm run test:node -- test/api/exports.node.spec.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'chai'

const root = new URL('../../', import.meta.url)
const snapshotFile = new URL('exports.json', import.meta.url)

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly import: string }>>
}

const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Manifest

async function exportedNames(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'object') {
      const module = (await import(new URL(target.import, root).href)) as object
      found[subpath] = Object.keys(module).sort()
    }
  }
  return found
}

describe('public exports', () => {
  it('are those of the snapshot', async () => {
    const found = await exportedNames()
    if (process.env.UPDATE_API !== undefined) {
      writeFileSync(snapshotFile, `${JSON.stringify(found, null, 2)}\n`)
    }
    expect(found).to.deep.equal(JSON.parse(readFileSync(snapshotFile, 'utf8')))
  })

  it('contain no default export', async () => {
    expect(Object.values(await exportedNames()).flat()).not.to.include('default')
  })
})
