// Frames recorded from running reference nodes, by what they are.
import goWaku from '../vectors/go-waku-0.10.1.json' with { type: 'json' }
import nwaku from '../vectors/nwaku-0.38.1.json' with { type: 'json' }

export interface Recorded {
  readonly id: string
  readonly note: string
  /** All that the client wrote. */
  readonly request?: string
  /** All that the node wrote. */
  readonly response?: string
  readonly end?: string
  /** The answer in short. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each protocol has its own
  readonly decoded?: any
}

/** Recorded exchanges of a protocol (`lightpush3`, `store2`, …), of both nodes where both speak it. */
export function recorded(protocol: string): Recorded[] {
  return [
    ...(nwaku as Recorded[]).map((entry) => ({ ...entry, id: `nwaku ${entry.id}` })),
    ...(goWaku as Recorded[]).map((entry) => ({ ...entry, id: `go-waku ${entry.id}` }))
  ].filter(({ id }) => id.includes(` ${protocol}.`))
}
