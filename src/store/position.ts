import { fromString } from 'uint8arrays/from-string'
import { toString as toText } from 'uint8arrays/to-string'
import { InvalidArgumentError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import type { OrderKey } from './generation.ts'

/** Where one request of a walk goes on. */
export interface SourcePosition {
  /** The cursor to ask with; undefined for the beginning. */
  readonly cursor?: Uint8Array<ArrayBuffer>
  /** Hash of the last message of that answer that was delivered; undefined if none of it was. */
  readonly after?: Uint8Array<ArrayBuffer>
}

/** What only the node that gave it can use. */
export interface NodePosition {
  readonly peerId: string
  readonly protocol: string
  /** Of the requests that the criteria were split into; cursors of another split mean nothing. */
  readonly split: string
  /** The time from which the node was asked; undefined: from the criteria's own. */
  readonly bound?: bigint
  readonly sources: readonly SourcePosition[]
}

/** The last message that was delivered; enough to go on at any node that filters by time. */
export interface LastDelivered extends OrderKey {
  /** Whose order the key belongs to. */
  readonly protocol: string
  /** Hashes of all messages of that time that were delivered; undefined if they are too many to be kept. */
  readonly hashes?: readonly Uint8Array<ArrayBuffer>[]
  /** Where they are too many: those of them that stand after this one, as another node gave them. */
  readonly beyond?: readonly Uint8Array<ArrayBuffer>[]
}

/** A place in a walk. */
export interface WalkPosition {
  /** Of the criteria, so that a position is not used for others. */
  readonly digest: string
  readonly node?: NodePosition
  readonly last?: LastDelivered
}

const VERSION = 1

/** What a token holds, as JSON. */
type TokenContent = readonly [
  version: number,
  digest: string,
  node:
    | readonly [
        peerId: string,
        protocol: string,
        split: string,
        bound: Nullable<string>,
        sources: readonly (readonly [cursor: Nullable<string>, after: Nullable<string>])[]
      ]
    | null,
  last:
    | readonly [
        time: string,
        tie: string,
        protocol: string,
        hashes: Nullable<readonly string[]>,
        beyond?: Nullable<readonly string[]>
      ]
    | null
]

/** JSON makes null of undefined in an array. */
type Nullable<T> = T | null | undefined

/** The position as a token: text that can be stored anywhere and means nothing to its holder. */
export function encodePosition({ digest, node, last }: WalkPosition): string {
  const content: TokenContent = [
    VERSION,
    digest,
    node === undefined
      ? null
      : [
          node.peerId,
          node.protocol,
          node.split,
          node.bound?.toString(),
          node.sources.map(({ cursor, after }) => [
            cursor && toBase64(cursor),
            after && toBase64(after)
          ])
        ],
    last === undefined
      ? null
      : [
          last.time.toString(),
          toBase64(last.tie),
          last.protocol,
          last.hashes?.map(toBase64),
          last.beyond?.map(toBase64)
        ]
  ]
  return toBase64(encodeText(JSON.stringify(content)))
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

function read(token: string): WalkPosition | undefined {
  try {
    // Whatever is not of this shape throws below, or fails the comparison of digests.
    const [version, digest, node, last] = JSON.parse(toText(fromBase64(token))) as TokenContent
    return version === VERSION
      ? {
          digest,
          node: node === null ? undefined : toNode(node),
          last: last ? toLast(last) : undefined
        }
      : undefined
  } catch {
    return undefined
  }
}

function toNode([peerId, protocol, split, bound, sources]: NonNullable<
  TokenContent[2]
>): NodePosition {
  return {
    peerId,
    protocol,
    split,
    bound: typeof bound === 'string' ? BigInt(bound) : undefined,
    sources: sources.map(([cursor, after]) => ({
      cursor: toBytes(cursor),
      after: toBytes(after)
    }))
  }
}

function toLast([time, tie, protocol, hashes, beyond]: NonNullable<
  TokenContent[3]
>): LastDelivered {
  return {
    time: BigInt(time),
    tie: fromBase64(tie),
    protocol,
    hashes: hashes?.map(fromBase64),
    beyond: beyond?.map(fromBase64)
  }
}

function toBytes(text: Nullable<string>): Uint8Array<ArrayBuffer> | undefined {
  return typeof text === 'string' ? fromBase64(text) : undefined
}

function toBase64(bytes: Uint8Array): string {
  return toText(bytes, 'base64url')
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fromString(text, 'base64url'))
}
