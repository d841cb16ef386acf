import { fromString } from 'uint8arrays/from-string'
import { toString as toText } from 'uint8arrays/to-string'
import { InvalidArgumentError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import type { Completeness, OrderKey } from './generation.ts'

/** Where one request of a walk goes on: after a cursor, from its beginning, or nowhere since it has ended. */
export type SourcePosition =
  | { readonly cursor: Uint8Array<ArrayBuffer> | undefined }
  | Exclude<Completeness, 'more'>

/** What only the node that gave it can use. */
export interface NodePosition {
  readonly peerId: string
  readonly protocol: string
  readonly sources: readonly SourcePosition[]
}

/** The last message that was delivered; enough to go on at any node. */
export interface LastDelivered extends OrderKey {
  readonly messageHash: Uint8Array<ArrayBuffer>
}

/** A place in a walk. */
export interface WalkPosition {
  /** Of the criteria, so that a position is not used for others. */
  readonly digest: string
  readonly node?: NodePosition
  readonly last?: LastDelivered
}

const VERSION = 1

/** The position as a token: text that can be stored anywhere and means nothing to its holder. */
export function encodePosition({ digest, node, last }: WalkPosition): string {
  const value = [
    VERSION,
    digest,
    node === undefined
      ? null
      : [
          node.peerId,
          node.protocol,
          node.sources.map((source) =>
            typeof source === 'string' ? [source] : source.cursor ? toBase64(source.cursor) : null
          )
        ],
    last === undefined
      ? null
      : [last.time.toString(), toBase64(last.tie), toBase64(last.messageHash)]
  ]
  return toBase64(encodeText(JSON.stringify(value)))
}

/**
 * The position of a token.
 *
 * @param digest - of the criteria it is to be used with
 * @throws {@link InvalidArgumentError} if it is no token of {@link encodePosition}, or belongs to other criteria
 */
export function decodePosition(token: string, digest: string): WalkPosition {
  const position = read(token)
  if (position === undefined) {
    throw new InvalidArgumentError('position', 'is not a position of this package')
  }
  if (position.digest !== digest) {
    throw new InvalidArgumentError('position', 'belongs to other criteria or another direction')
  }
  return position
}

/** What a token holds, as JSON. */
type TokenContent = readonly [
  version: number,
  digest: string,
  node:
    | readonly [peerId: string, protocol: string, sources: readonly (string | null | [string])[]]
    | null,
  last: readonly [time: string, tie: string, messageHash: string] | null
]

function read(token: string): WalkPosition | undefined {
  try {
    // Whatever is not of this shape throws below, or fails the comparison of digests.
    const [version, digest, node, last] = JSON.parse(
      toText(fromString(token, 'base64url'))
    ) as TokenContent
    return version !== VERSION
      ? undefined
      : {
          digest: String(digest),
          node:
            node === null
              ? undefined
              : {
                  peerId: String(node[0]),
                  protocol: String(node[1]),
                  sources: node[2].map(toSource)
                },
          last:
            last === null
              ? undefined
              : {
                  time: BigInt(last[0]),
                  tie: fromBase64(last[1]),
                  messageHash: fromBase64(last[2])
                }
        }
  } catch {
    return undefined
  }
}

function toSource(value: string | null | [string]): SourcePosition {
  if (Array.isArray(value)) {
    return value[0] === 'complete' ? 'complete' : 'unverifiable'
  }
  return { cursor: value === null ? undefined : fromBase64(value) }
}

function toBase64(bytes: Uint8Array): string {
  return toText(bytes, 'base64url')
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fromString(text, 'base64url'))
}
