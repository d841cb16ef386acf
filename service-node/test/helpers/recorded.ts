import { readFileSync } from 'node:fs'

/** One exchange with a reference node. */
export interface Recorded {
  readonly id: string
  readonly request?: string
  readonly response?: string | null
}

const FILE = new URL('../../../test/vectors/nwaku-0.38.1.json', import.meta.url)

/** Exchanges with a reference node whose id starts with `prefix`, except those too big to be kept. */
export function recorded(prefix: string): Recorded[] {
  const all: Recorded[] = JSON.parse(readFileSync(FILE, 'utf8'))
  return all.filter(
    ({ id, request }) =>
      id.startsWith(prefix) && request !== undefined && !request.startsWith('description:')
  )
}
