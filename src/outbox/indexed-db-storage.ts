import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, openDB } from 'idb'
import { isWakuLightError, StorageError, StorageFullError } from '../errors.ts'
import type { OutboxEntry, OutboxMessage } from './entry.ts'
import { assertText } from './init.ts'
import type { OutboxStorage } from './storage.ts'

interface Schema extends DBSchema {
  entries: { key: number; value: OutboxEntry; indexes: { id: string } }
  messages: { key: string; value: OutboxMessage }
}

type Stores = ['entries', 'messages']
type EntryStore = IDBPObjectStore<Schema, Stores, 'entries', 'readwrite'>
type MessageStore = IDBPObjectStore<Schema, Stores, 'messages', 'readwrite'>

const SCHEMA_VERSION = 1

/** What is written must be on the disk before the network may see it. */
const STRICT: IDBTransactionOptions = { durability: 'strict' }

/**
 * Keeps entries in IndexedDB: in a page or a worker, shared by all tabs of an origin. The database is opened at the first
 * use, and again if the browser closed it.
 *
 * @param name - of the database; one for each network and account
 * @throws {@link InvalidArgumentError} for an empty name; its operations throw {@link StorageError}, and
 * {@link StorageFullError} where there is no room
 *
 * @example
 * ```ts
 * const outbox = await createOutbox({ lightPush, store }, { storage: indexedDbStorage('my-chat-outbox') })
 * ```
 */
export function indexedDbStorage(name: string): OutboxStorage {
  assertText(name ?? '', 'name')
  let opened: Promise<IDBPDatabase<Schema>> | undefined

  function open(): Promise<IDBPDatabase<Schema>> {
    const forget = (): void => {
      if (opened === opening) {
        opened = undefined
      }
    }
    const opening = openDatabase(name, forget)
    opening.catch(forget)
    return opening
  }

  async function use<T>(operation: (database: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    opened ??= open()
    try {
      return await operation(await opened)
    } catch (error) {
      throw toStorageError(error)
    }
  }

  /** Changes something in one transaction, to the end of it. */
  async function change<T>(
    operation: (entries: EntryStore, messages: MessageStore) => Promise<T>
  ): Promise<T> {
    return await use(async (database) => {
      const transaction = database.transaction(['entries', 'messages'], 'readwrite', STRICT)
      const [result] = await Promise.all([
        operation(transaction.objectStore('entries'), transaction.objectStore('messages')),
        transaction.done
      ])
      return result
    })
  }

  return {
    scope: `indexed-db/${name}`,
    add: (entry, message) =>
      change(async (entries, messages) => {
        const existing = await entries.index('id').get(entry.id)
        if (existing !== undefined) {
          return existing
        }
        const [seq] = await Promise.all([
          entries.add(entry as OutboxEntry), // the key generator sets its seq
          messages.put(message, entry.id)
        ])
        return { ...entry, seq }
      }),
    put: (entry, dropContent) =>
      change(async (entries, messages) => {
        await Promise.all([entries.put(entry), dropContent ? messages.delete(entry.id) : undefined])
      }),
    entries: () => use((database) => database.getAll('entries')),
    entry: (id) => use((database) => database.getFromIndex('entries', 'id', id)),
    message: (id) => use((database) => database.get('messages', id)),
    remove: (ids) =>
      change(async (entries, messages) => {
        for (const id of ids) {
          const seq = await entries.index('id').getKey(id)
          if (seq !== undefined) {
            await Promise.all([entries.delete(seq), messages.delete(id)])
          }
        }
      }),
    async close() {
      const closing = opened
      opened = undefined
      await closing?.then(
        (database) => database.close(),
        () => {}
      )
    }
  }
}

async function openDatabase(name: string, forget: () => void): Promise<IDBPDatabase<Schema>> {
  if (globalThis.indexedDB === undefined) {
    throw new StorageError('unavailable', 'there is no IndexedDB here')
  }
  return await openDB<Schema>(name, SCHEMA_VERSION, {
    upgrade(database) {
      const entries = database.createObjectStore('entries', { keyPath: 'seq', autoIncrement: true })
      entries.createIndex('id', 'id', { unique: true })
      database.createObjectStore('messages')
    },
    // Someone deletes the database, or a newer version of the app opens it: let go, and find out at the next use.
    blocking(_current, _blocked, event) {
      forget()
      ;(event.target as IDBDatabase).close()
    },
    terminated: forget
  })
}

function toStorageError(error: unknown): unknown {
  if (isWakuLightError(error)) {
    return error
  }
  const { name, message } = error as Error
  if (name === 'QuotaExceededError') {
    return new StorageFullError({ cause: error })
  }
  return new StorageError(
    name === 'VersionError' ? 'newer-schema' : 'failed',
    `the outbox cannot be read or written: ${message}`,
    { cause: error }
  )
}
