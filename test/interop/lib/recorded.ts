import { readFileSync } from 'node:fs'
import { fromHex, toHex } from 'waku-light/message'

/** One exchange with go-waku, recorded earlier. */
export interface RecordedExchange {
  readonly id: string
  readonly note: string
  /** Without its length. */
  readonly request: Uint8Array
  /** In hex, without its length; `reset` where the node ended the stream instead. */
  readonly response: string
  /** The node's words in an answer to a light push. */
  readonly info?: string
}

interface Entry {
  readonly id: string
  readonly note: string
  readonly request?: string
  readonly response?: string
  readonly end?: string
  readonly decoded?: { readonly response?: { readonly info?: string } } | null
}

const FILE = new URL('../../vectors/go-waku-0.10.1.json', import.meta.url)

/** Exchanges whose id matches, as far as both frames were kept. */
export function recordedExchanges(id: RegExp): RecordedExchange[] {
  const entries = JSON.parse(readFileSync(FILE, 'utf8')) as Entry[]
  return entries.flatMap(({ end, request, response = end, ...entry }) =>
    request === undefined || response === undefined || !id.test(entry.id)
      ? []
      : [
          {
            id: entry.id,
            note: entry.note,
            request: unframe(request),
            response: response === 'reset' ? response : toHex(unframe(response)),
            info: entry.decoded?.response?.info
          }
        ]
  )
}

/** A frame without its length, a varint. */
function unframe(hex: string): Uint8Array {
  const frame = fromHex(hex)
  return frame.subarray(frame.findIndex((byte) => byte < 0x80) + 1)
}
