// Draws what passed between a client and a node during one cold start, as SVG.
import type { Passage } from './proxy.ts'

/** One cold start. */
export interface Start {
  readonly title: string
  readonly startMs: number
  readonly endMs: number
  readonly passages: readonly Passage[]
  /** What leaves the client, in order, as far as it is known. */
  readonly steps: readonly string[]
}

const WIDTH = 860
const LEFT = 20
const RIGHT = 20
const ROW = 26
const HEAD = 44

/** Pieces that leave or come within this time are drawn as one. */
const TOGETHER_MS = 15

export function drawWaterfall(starts: readonly Start[], roundTripMs: number): string {
  const span = Math.max(...starts.map(({ startMs, endMs }) => endMs - startMs))
  const turns = Math.ceil(span / roundTripMs)
  const x = (ms: number): number => LEFT + (ms / (turns * roundTripMs)) * (WIDTH - LEFT - RIGHT)
  let top = 30
  const parts: string[] = []
  for (const { title, startMs, endMs, passages, steps } of starts) {
    const out = join(passages, 'out', startMs, endMs)
    const height = HEAD + out.length * ROW + 14
    const taken = ((endMs - startMs) / roundTripMs).toFixed(2)
    parts.push(text(LEFT, top, `${title}: ${taken} round trips`, 'font-weight="bold"'))
    for (let turn = 0; turn <= turns; turn++) {
      const at = x(turn * roundTripMs)
      parts.push(line(at, top + 22, at, top + height - 14, '#ddd'))
      parts.push(text(at, top + 18, String(turn), 'fill="#777" text-anchor="middle"'))
    }
    out.forEach(({ atMs, bytes }, index) => {
      const y = top + HEAD + index * ROW
      const from = x(atMs - startMs)
      const to = x(Math.min(atMs - startMs + roundTripMs, endMs - startMs))
      const color = index === out.length - 1 ? '#2a7' : '#47b'
      parts.push(
        `<rect x="${from.toFixed(1)}" y="${y - 12}" width="${Math.max(to - from, 2).toFixed(1)}" height="17" fill="${color}" opacity="0.25"/>`
      )
      const label = `${steps[index] ?? ''} (${bytes} bytes)`
      const isLate = from > WIDTH * 0.6
      parts.push(
        isLate
          ? text(from - 5, y + 1, label, 'text-anchor="end"')
          : text(from + 5, y + 1, label, '')
      )
    })
    const end = x(endMs - startMs)
    parts.push(line(end, top + 22, end, top + height - 14, '#2a7'))
    top += height + 18
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" font-family="sans-serif" font-size="12" fill="#222">\n` +
    `<rect width="${WIDTH}" height="${top}" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`
  )
}

function join(
  passages: readonly Passage[],
  way: Passage['way'],
  startMs: number,
  endMs: number
): Passage[] {
  const joined: Passage[] = []
  for (const passage of passages) {
    if (passage.way !== way || passage.atMs < startMs || passage.atMs > endMs) {
      continue
    }
    const last = joined.at(-1)
    if (last !== undefined && passage.atMs - last.atMs < TOGETHER_MS) {
      joined[joined.length - 1] = { ...last, bytes: last.bytes + passage.bytes }
    } else {
      joined.push(passage)
    }
  }
  return joined
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${content}</text>`
}

function line(x1: number, y1: number, x2: number, y2: number, color: string): string {
  return `<line x1="${x1.toFixed(1)}" y1="${y1}" x2="${x2.toFixed(1)}" y2="${y2}" stroke="${color}"/>`
}
