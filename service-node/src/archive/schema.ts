import { DatabaseSync } from 'node:sqlite'
import { errorMessage, ServiceNodeError } from '../errors.ts'

const SCHEMA_VERSION = 1

// Small columns first: a filter then never touches the pages that a long message overflows to. `received_time` is a 32-bit
// float of seconds, the time of store 2.0.0-beta2. beta4 orders by stored time, which is the timestamp: messages without
// one are not archived.
const SCHEMA = `
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    timestamp INTEGER NOT NULL,
    received_time REAL NOT NULL,
    digest BLOB NOT NULL,
    pubsub_topic TEXT NOT NULL,
    content_topic TEXT NOT NULL,
    message BLOB NOT NULL
  ) STRICT;
  CREATE INDEX by_timestamp_hash ON messages (timestamp, hash);
  CREATE INDEX by_timestamp_digest ON messages (timestamp, digest, hash);
  CREATE INDEX by_received_digest ON messages (received_time, digest, hash);
  CREATE INDEX by_pubsub_topic ON messages (pubsub_topic, timestamp, hash);
  CREATE INDEX by_content_topic ON messages (content_topic, timestamp, hash);
  CREATE INDEX by_content_topic_received ON messages (content_topic, received_time, digest, hash);
  PRAGMA user_version = ${SCHEMA_VERSION};
`

// Apart from the rest, and no reason for another version: files of releases before it lack it, and those can do without.
const MARKS = `
  CREATE TABLE IF NOT EXISTS marks (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID
`

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

/**
 * Opens the database of an archive and takes hold of it: as long as it is open, nobody else can read or write the file.
 *
 * @param file - path, or `:memory:`
 * @throws {@link ServiceNodeError} `ERR_DATABASE_IN_USE` if another node has it, else `ERR_DATABASE`
 */
export function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    // The lock of exclusive mode is kept from the first transaction on and dies with the process. FULL: a commit is on disk
    // before it returns, so neither a killed process nor a power cut loses what was acknowledged.
    database.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'
    )
    database.exec('BEGIN EXCLUSIVE; COMMIT')
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
    if (version === 0) {
      database.exec(`BEGIN; ${SCHEMA} COMMIT`)
    } else if (version !== SCHEMA_VERSION) {
      throw new Error(`it has schema version ${version}, this release reads ${SCHEMA_VERSION}`)
    }
    database.exec(MARKS)
    return database
  } catch (cause) {
    database?.close()
    const errcode = (cause as { errcode?: number }).errcode ?? 0
    if ([SQLITE_BUSY, SQLITE_LOCKED].includes(errcode & 0xff)) {
      throw new ServiceNodeError(
        'ERR_DATABASE_IN_USE',
        `${file} is in use by another service node`,
        { cause }
      )
    }
    throw new ServiceNodeError('ERR_DATABASE', `${file} cannot be opened: ${errorMessage(cause)}`, {
      cause
    })
  }
}
