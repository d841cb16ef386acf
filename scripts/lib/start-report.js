// How `npm start` tells what it does: one line a step with its time, details below.

const coloured = process.stdout.isTTY === true && !process.env.NO_COLOR
const paint = (code) => (text) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text)
export const bold = paint('1')
export const faint = paint('2')
const green = paint('32')
const red = paint('31')
const yellow = paint('33')

const TITLE_WIDTH = 58

/** Something did not do what it must; the message is for whoever reads the report. */
export class CheckError extends Error {}

/**
 * Runs a step and prints it.
 *
 * @template T
 * @param {string} title
 * @param {(detail: (line: string) => void) => Promise<T>} run - `detail` adds a line below the title
 * @returns {Promise<T>}
 */
export async function step(title, run) {
  const lines = []
  const started = performance.now()
  const print = (mark) => {
    const duration = formatMs(performance.now() - started)
    console.log(`  ${mark} ${title.padEnd(TITLE_WIDTH)} ${faint(duration.padStart(9))}`)
    for (const line of lines) {
      console.log(`      ${line}`)
    }
  }
  try {
    const result = await run((line) => lines.push(line))
    print(green('✓'))
    return result
  } catch (error) {
    print(red('✗'))
    throw error
  }
}

export function note(text) {
  console.log(`  ${yellow('!')} ${text}`)
}

export function verdict(ok, text) {
  console.log(`\n${ok ? green(bold(text)) : red(bold(text))}`)
}

export function formatMs(ms) {
  return ms < 10
    ? `${ms.toFixed(1)} ms`
    : ms < 10_000
      ? `${ms.toFixed(0)} ms`
      : `${(ms / 1000).toFixed(1)} s`
}

/** The two ends of a hash or peer id, which is what people compare. */
export function shorten(text, ends = 6) {
  return text.length <= 2 * ends + 1 ? text : `${text.slice(0, ends)}…${text.slice(-ends)}`
}
