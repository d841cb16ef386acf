// docs/interop.md: what the last whole run found, row by row.
const DIFFERENCE = 'difference: '
const DATE_LINE = /^Last run: .*$/m

const INTRODUCTION = `# Interoperability

Both halves of this project come from one document, so that they agree with each other proves little. Here each of them
meets implementations that share no code with it. This page is written by \`npm run test:interop\`, a row a test; CI fails if
it is not what the run has found.

A *difference* is something that the other side does in its own way. It is asserted like everything else, so that a change
of theirs is noticed.
`

/**
 * The page.
 *
 * @param {{ implementation: string, role: string, protocol: string, title: string, state: string }[]} rows
 * @param {Record<string, string>} versions - by implementation
 * @param {string} date
 */
export function renderMatrix(rows, versions, date) {
  const differences = rows.filter(isDifference).length
  const sides = group(rows, ({ implementation, role }) => {
    return `${implementation} ${versions[implementation]} as the ${role}`
  })
  const sections = [...sides].map(([side, ofSide]) => {
    const tables = [...group(ofSide, ({ protocol }) => protocol)].map(([protocol, ofProtocol]) =>
      [`### ${protocol}`, '', '| case | result |', '|---|---|', ...ofProtocol.map(toLine)].join(
        '\n'
      )
    )
    return [`## ${side}`, ...tables].join('\n\n')
  })
  const summary = `${rows.length} cases, ${differences} of them differences.`
  return `${[INTRODUCTION + `\nLast run: ${date}`, summary, ...sections].join('\n\n')}\n`
}

/** True if two pages differ in their date at the most. */
export function isSameMatrix(a, b) {
  return a.replace(DATE_LINE, '') === b.replace(DATE_LINE, '')
}

function toLine(row) {
  const title = isDifference(row) ? row.title.slice(DIFFERENCE.length) : row.title
  const result = isDifference(row) ? 'difference' : 'pass'
  return `| ${title.replaceAll('|', '\\|')} | ${row.state === 'passed' ? result : row.state} |`
}

function isDifference({ title }) {
  return title.startsWith(DIFFERENCE)
}

function group(rows, keyOf) {
  const groups = new Map()
  for (const row of rows) {
    const key = keyOf(row)
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}
