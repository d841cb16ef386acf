import { type Archive, createIndexedDbArchive, type IndexedDbArchiveInit } from 'waku-light/archive'

/** Databases of one test, each with a name of its own; all closed and deleted by {@link Databases.clear}. */
export class Databases {
  readonly #names = new Set<string>()
  readonly #archives: Archive[] = []
  readonly #connections: IDBDatabase[] = []

  /** A name that was never used. */
  name(): string {
    const name = `waku-light-test-${crypto.randomUUID()}`
    this.#names.add(name)
    return name
  }

  /** An archive, over a new database unless a name is given. */
  async archive(name = this.name(), init?: IndexedDbArchiveInit): Promise<Archive> {
    const archive = await createIndexedDbArchive(name, init)
    this.#archives.push(archive)
    return archive
  }

  /** A connection as another program has it. It lets go of nothing by itself. */
  async connect(
    name: string,
    version: number,
    upgrade: (database: IDBDatabase) => void = () => {}
  ): Promise<IDBDatabase> {
    const request = indexedDB.open(name, version)
    request.onupgradeneeded = () => upgrade(request.result)
    const database = await settled(request)
    this.#connections.push(database)
    return database
  }

  async clear(): Promise<void> {
    for (const connection of this.#connections) {
      connection.close()
    }
    await Promise.all(this.#archives.map((archive) => archive.close()))
    await Promise.all([...this.#names].map((name) => settled(indexedDB.deleteDatabase(name))))
  }
}

/** What a request gives. */
export async function settled<T>(request: IDBRequest<T>): Promise<T> {
  return await new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(new Error('no answer', { cause: request.error }))
  })
}
