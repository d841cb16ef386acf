/**
 * `waku-light/archive`: a local store of messages, in memory or in IndexedDB. A client room: it imports no libp2p value and
 * no other client room. Importing it touches nothing.
 *
 * @packageDocumentation
 */
export type {
  AdditionListener,
  Archive,
  ArchiveCallOptions,
  ArchiveCriteria,
  ArchiveKey,
  ArchivePosition,
  PruneLimits,
  PutOptions
} from './archive.ts'
export {
  createIndexedDbArchive,
  INDEXED_DB_DEFAULTS,
  type IndexedDbArchiveInit
} from './indexed-db-archive.ts'
export { createMemoryArchive } from './memory-archive.ts'
