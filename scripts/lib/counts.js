// The counts that test reporters leave behind, one JSON object a line: { suite, passed, failed, skipped }.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** `N passed, N failed` over the suites; a run that did not succeed has at least one failure. */
export function closingLine(file, ok) {
  const lines = existsSync(file)
    ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
    : []
  const all = lines.map((line) => JSON.parse(line))
  const passed = all.reduce((sum, one) => sum + one.passed, 0)
  const failed = all.reduce((sum, one) => sum + one.failed, 0)
  return `${passed} passed, ${ok ? failed : Math.max(failed, 1)} failed`
}

// node scripts/lib/counts.js FILE EXIT_STATUS
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(closingLine(process.argv[2], process.argv[3] === '0'))
}
