import { defineConfig } from 'eslint/config'
import jsdoc from 'eslint-plugin-jsdoc'
import tseslint from 'typescript-eslint'

const UNUSED = { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }

const tooling = ['**/*.{js,cjs,mjs}']

const shapeOfCode = [
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  {
    selector: 'ExportAllDeclaration',
    message: 'Re-export by name: the public API is read from one screen.'
  },
  {
    selector: 'TSEnumDeclaration',
    message: 'A frozen const object with a union type shakes out; an enum does not.'
  },
  {
    selector: 'TSModuleDeclaration[kind="namespace"]',
    message: 'No value namespaces in hand-written code.'
  },
  { selector: 'Decorator', message: 'No decorators.' },
  {
    selector: 'StaticBlock',
    message: 'Static blocks are kept by bundlers even where the class is unused.'
  }
]

const impure = [
  { object: 'Date', property: 'now', message: 'Pure room: take the time as an argument.' },
  { object: 'Math', property: 'random', message: 'Pure room: take random values as arguments.' },
  { object: 'performance', property: 'now', message: 'Pure room: take the time as an argument.' }
]

export default defineConfig(
  {
    ignores: [
      '**/node_modules/',
      '**/dist/',
      '.cache/',
      'src/wire/generated/',
      'scripts/lib/samples.d.ts', // globals that nothing else may see
      'test/interop/**/*.go',
      'examples/*/dist/'
    ]
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.json', 'examples/*/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname
      }
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true }
      ],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true }
      ],
      '@typescript-eslint/require-await': 'off',
      // methods of interfaces are taken out of plain objects everywhere
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true }
      ],
      '@typescript-eslint/no-unused-vars': ['error', UNUSED],
      eqeqeq: 'error',
      'no-console': 'off',
      'no-restricted-syntax': ['error', ...shapeOfCode]
    }
  },
  {
    files: ['src/**/*.ts', 'service-node/src/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'error',
      'no-console': 'error',
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'] }]
    }
  },
  {
    files: ['src/**/*.ts'],
    plugins: { jsdoc },
    settings: { jsdoc: { mode: 'typescript' } },
    rules: {
      'jsdoc/require-jsdoc': [
        'error',
        {
          publicOnly: { ancestorsOnly: true, esm: true },
          require: { ClassDeclaration: true, FunctionDeclaration: true, MethodDefinition: true },
          checkConstructors: false,
          contexts: ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'VariableDeclaration'],
          enableFixer: false
        }
      ],
      'jsdoc/require-description': [
        'error',
        {
          contexts: [
            'ClassDeclaration',
            'FunctionDeclaration',
            'TSInterfaceDeclaration',
            'TSTypeAliasDeclaration',
            'VariableDeclaration'
          ]
        }
      ],
      'jsdoc/check-param-names': [
        'error',
        { checkDestructured: false, disableMissingParamChecks: true }
      ],
      'jsdoc/check-tag-names': [
        'error',
        { definedTags: ['packageDocumentation', 'internal', 'typeParam'] }
      ],
      'jsdoc/empty-tags': 'error',
      'jsdoc/no-types': 'error'
    }
  },
  {
    files: ['src/message/**/*.ts', 'src/wire/**/*.ts', 'src/sync/engine/**/*.ts'],
    rules: {
      'no-restricted-properties': ['error', ...impure],
      'no-restricted-globals': [
        'error',
        ...[
          'console',
          'crypto',
          'fetch',
          'performance',
          'setTimeout',
          'setInterval',
          'WebSocket'
        ].map((name) => ({
          name,
          message: 'Pure room: no clock, randomness, input or output.'
        }))
      ]
    }
  },
  {
    files: ['test/**/*.ts', 'service-node/test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // chai speaks in expressions, and scripted fakes return what a hostile peer would
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off'
    }
  },
  {
    files: tooling,
    extends: [tseslint.configs.base],
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', UNUSED],
      eqeqeq: 'error'
    }
  }
)
