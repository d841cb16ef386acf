// The reference, made from the sources of the public subpaths; every warning is an error.
import { subpaths } from './scripts/lib/package.js'

export default {
  entryPoints: subpaths.map(({ source }) => source),
  tsconfig: 'tsconfig.build.json',
  plugin: ['./scripts/lib/typedoc-links.js'],
  out: '.cache/reference',
  readme: 'none',
  excludeInternal: true,
  excludePrivate: true,
  gitRevision: 'main',
  disableSources: true,
  treatWarningsAsErrors: true,
  logLevel: 'Warn',
  // the map behind hasErrorCode(), which callers never name
  intentionallyNotExported: ['ErrorByCode'],
  validation: { notExported: true, invalidLink: true, rewrittenLink: true, notDocumented: true },
  requiredToBeDocumented: [
    'Class',
    'Interface',
    'Function',
    'Variable',
    'TypeAlias',
    'Method',
    'Accessor'
  ]
}
