import { fromHex } from 'waku-light/message'
import goWaku from '../vectors/go-waku-0.10.1.json' with { type: 'json' }
import nwaku from '../vectors/nwaku-0.38.1.json' with { type: 'json' }
import sync from '../vectors/nwaku-sync-0.38.1.json' with { type: 'json' }
import protocols from '../vectors/protocols.json' with { type: 'json' }

/** Longest frame that is kept: what is larger has nothing in it that a smaller one lacks. */
const MAX_SEED_BYTES = 4096

interface Recorded {
  readonly request?: string
  readonly response?: string
  readonly frame?: string
  readonly hex?: string
  readonly frames?: readonly { readonly hex: string }[]
}

/** Bodies of all the frames that were recorded from reference nodes, without their lengths. */
export const CORPUS: readonly Uint8Array<ArrayBuffer>[] = [
  ...([...nwaku, ...goWaku, ...protocols] as Recorded[]).flatMap((entry) => [
    ...[entry.request, entry.response, entry.frame].map(bodyOf),
    ...(entry.hex === undefined ? [] : [fromHex(entry.hex)])
  ]),
  ...(sync as Recorded[]).flatMap(({ frames = [] }) => frames.map(({ hex }) => bodyOf(hex)))
].filter((body) => body !== undefined && body.length > 0 && body.length <= MAX_SEED_BYTES) as [
  Uint8Array<ArrayBuffer>
]

function bodyOf(hex: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (hex === undefined || !/^[0-9a-f]+$/.test(hex)) {
    return undefined
  }
  const bytes = fromHex(hex)
  return bytes.slice(bytes.findIndex((byte) => byte < 0x80) + 1)
}
