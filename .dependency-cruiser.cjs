// The import direction of the library, as rules. Types count: what is imported only as a type is an edge as well, where
// a rule does not say `dependencyTypesNot: ['type-only']`.
const CLIENT_ROOMS = ['light-push', 'store', 'outbox', 'archive', 'resume', 'sync']
const rooms = CLIENT_ROOMS.join('|')

/** A folder may not import from what lies above it. */
const below = (name, path, above) => ({
  name,
  severity: 'error',
  comment: 'lib, errors, options <- message <- wire <- transport <- client rooms <- index',
  from: { path },
  to: { path: above }
})

/** Matches a package by the name that was written in the import. */
const packages = (names) => `(^|/)node_modules/(${names})(/|$)`

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'type cycles included',
      from: {},
      to: { circular: true }
    },
    {
      name: 'not-resolvable',
      severity: 'error',
      comment: 'an import that leads nowhere',
      from: { path: '^(src|service-node/src|examples)/' },
      to: { couldNotResolve: true }
    },
    {
      name: 'errors-and-options-are-leaves',
      severity: 'error',
      from: { path: '^src/errors\\.ts$' },
      to: {}
    },
    below('options-below-message', '^src/options\\.ts$', `^src/(?!errors\\.ts$|lib/)`),
    below('lib-below-message', '^src/lib/', '^src/(?!errors\\.ts$|options\\.ts$|lib/)'),
    below(
      'message-below-wire',
      '^src/message/',
      '^src/(?!errors\\.ts$|options\\.ts$|lib/|message/)'
    ),
    below(
      'wire-below-transport',
      '^src/wire/',
      '^src/(?!errors\\.ts$|options\\.ts$|lib/|message/|wire/)'
    ),
    below('transport-below-clients', '^src/transport/', `^src/(index\\.ts$|(${rooms})/)`),
    below('clients-below-index', `^src/(${rooms})/`, '^src/index\\.ts$'),
    {
      name: 'client-rooms-apart',
      severity: 'error',
      comment: 'what one client room needs of another it takes as an interface: types only',
      from: { path: `^src/(${rooms})/` },
      to: {
        path: `^src/(${rooms})/`,
        pathNot: '^src/$1/',
        dependencyTypesNot: ['type-only']
      }
    },
    {
      name: 'generated-stays-in-wire',
      severity: 'error',
      comment: 'generated types never leave wire/',
      from: { pathNot: '^(src/wire/|test/wire/)' },
      to: { path: '^src/wire/generated/' }
    },
    {
      name: 'no-node-built-ins',
      severity: 'error',
      comment: 'the library runs in browsers',
      from: { path: '^src/' },
      to: { dependencyTypes: ['core'] }
    },
    {
      name: 'pure-rooms',
      severity: 'error',
      comment: 'message/ and wire/ use no libp2p value, and only packages that are pure',
      from: { path: '^src/(message|wire|lib)/' },
      to: {
        path: packages('libp2p|@libp2p/[^/]+|@chainsafe/[^/]+|@multiformats/[^/]+'),
        dependencyTypesNot: ['type-only']
      }
    },
    {
      name: 'only-node-builds-libp2p',
      severity: 'error',
      comment: 'one rule decides what a bundle of a client weighs',
      from: { path: '^src/', pathNot: '^src/transport/node\\.ts$' },
      to: {
        path: packages('libp2p|@chainsafe/[^/]+|@libp2p/(?!interface/|utils/)[^/]+'),
        dependencyTypesNot: ['type-only']
      }
    },
    {
      name: 'only-exchange-and-addresses-use-helpers',
      severity: 'error',
      comment: 'values of @libp2p/utils enter through transport/exchange.ts and addresses.ts alone',
      from: { path: '^src/', pathNot: '^src/transport/(exchange|addresses)\\.ts$' },
      to: { path: packages('@libp2p/utils'), dependencyTypesNot: ['type-only'] }
    },
    {
      name: 'library-without-service-node',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(service-node|examples|test|bench|scripts)/|(^|/)node_modules/waku-light' }
    },
    {
      name: 'users-import-by-name',
      severity: 'error',
      comment: 'service-node/ and examples/ use the package as everyone does: by its public names',
      from: { path: '^(service-node|examples)/' },
      to: { path: '^src/', dependencyTypesNot: ['aliased', 'npm'] }
    },
    {
      name: 'sources-without-tests',
      severity: 'error',
      from: { path: '^(src|service-node/src|examples)/' },
      to: { path: '^(test|bench|service-node/test)/' }
    },
    {
      name: 'declared-packages-only',
      severity: 'error',
      comment: 'what is imported at run time stands in dependencies',
      from: { path: '^(src|service-node/src)/' },
      // what one workspace has at run time another may have for its tests
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm'],
        pathNot: 'node_modules/@libp2p/crypto/'
      }
    }
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|service-node/dist|examples/[^/]+/dist|\\.cache)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'default'],
      extensions: ['.ts', '.js', '.json', '.d.ts']
    }
  }
}
