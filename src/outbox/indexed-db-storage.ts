import { assertText } from '../lib/checks.ts'
import { change, openDatabase, resultOf, storeOf, toStorageError } from '../lib/indexed-db.ts'
import type { OutboxEntry } from './entry.ts'
import type { OutboxStorage } from './storage.ts'

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
  assertText('name', name)
  let opened: Promise<IDBDatabase> | undefined

  function open(): Promise<IDBDatabase> {
    const forget = (): void => {
      if (opened === opening) {
        opened = undefined
      }
    }
    // What is lost is found out about at the next use.
    const opening = openDatabase(name, { version: 1, upgrade: createStores, onLost: forget })
    opening.catch(forget)
    return opening
  }

  async function use<T>(operation: (database: IDBDatabase) => Promise<T>): Promise<T> {
    opened ??= open()
    try {
      return await operation(await opened)
    } catch (error) {
      throw toStorageError(error)
    }
  }

  /** Changes something in one transaction, to the end of it. */
  function write<T>(
    operation: (entries: IDBObjectStore, messages: IDBObjectStore) => Promise<T>
  ): Promise<T> {
    return use((database) => change(database, ['entries', 'messages'], operation, STRICT))
  }

  return {
    scope: `indexed-db/${name}`,
    add: (entry, message) =>
      write(async (entries, messages) => {
        const existing = await resultOf<OutboxEntry | undefined>(entries.index('id').get(entry.id))
        if (existing !== undefined) {
          return existing
        }
        const adding = entries.add(entry) // the key generator sets its seq
        messages.put(message, entry.id)
        return { ...entry, seq: await resultOf<number>(adding) }
      }),
    put: (entry, dropContent) =>
      write(async (entries, messages) => {
        entries.put(entry)
        if (dropContent) {
          messages.delete(entry.id)
        }
      }),
    entries: () => use((database) => resultOf(storeOf(database, 'entries').getAll())),
    entry: (id) => use((database) => resultOf(storeOf(database, 'entries').index('id').get(id))),
    message: (id) => use((database) => resultOf(storeOf(database, 'messages').get(id))),
    remove: (ids) =>
      write(async (entries, messages) => {
        for (const id of ids) {
          const seq = await resultOf<number | undefined>(entries.index('id').getKey(id))
          if (seq !== undefined) {
            entries.delete(seq)
            messages.delete(id)
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

function createStores({ result }: IDBOpenDBRequest): void {
  const entries = result.createObjectStore('entries', { keyPath: 'seq', autoIncrement: true })
  entries.createIndex('id', 'id', { unique: true })
  result.createObjectStore('messages')
}
