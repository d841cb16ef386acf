// Generated from protos/metadata.proto by `npm run generate`. Do not edit.
import type { Fields } from '../fields.ts'

export interface WakuMetadata {
  clusterId?: number
  shards?: Uint8Array<ArrayBuffer>
}

export const WakuMetadataFields: Fields = {
  1: ['clusterId', 'uint32'],
  3: ['shards', 'bytes']
}
