// Generated from protos/metadata.proto by `npm run generate`. Do not edit.
import { encodeMessage, message } from 'protons-runtime'
import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
}

export interface WakuMetadata {
  clusterId?: number
  shards?: Uint8Array<ArrayBuffer>
}

let _wakuMetadataWriter: Codec<WakuMetadata> | undefined

function wakuMetadataWriter (): Codec<WakuMetadata> {
  _wakuMetadataWriter ??= message<WakuMetadata>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.clusterId != null) {
      w.uint32(8)
      w.uint32(obj.clusterId)
    }

    if (obj.shards != null) {
      w.uint32(26)
      w.bytes(obj.shards)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _wakuMetadataWriter
}

export function writeWakuMetadata (obj: Partial<WakuMetadata>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, wakuMetadataWriter())
}

export const WakuMetadataFields: Fields = {
  1: ['clusterId', 'uint32'],
  3: ['shards', 'bytes']
}
