import type { StoredMessage } from 'waku-light/store'
import type { Databases } from './databases.ts'

/** Makes a database as version 1 had it, by hand: no marks, and nothing to walk backward by. */
export async function openVersion1(
  databases: Databases,
  name: string,
  messages: readonly StoredMessage[]
): Promise<void> {
  const database = await databases.connect(name, 1, (fresh) => {
    fresh
      .createObjectStore('chunks', { keyPath: 'start' })
      .createIndex('hashes', 'hashes', { unique: true, multiEntry: true })
  })
  const transaction = database.transaction('chunks', 'readwrite')
  const done = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve
    transaction.onabort = () => reject(new Error('not stored', { cause: transaction.error }))
  })
  for (let index = 0; index < messages.length; index += 20) {
    const part = messages.slice(index, index + 20)
    transaction.objectStore('chunks').add({
      start: key(part[0] as StoredMessage),
      end: key(part.at(-1) as StoredMessage).map((byte) => byte ^ 0xff),
      hashes: part.map(({ messageHash }) => messageHash),
      contents: part.map(({ messageHash: _, ...content }) => content)
    })
  }
  await done
  database.close()
}

function key({ timestamp = 0n, messageHash }: StoredMessage): Uint8Array {
  const bytes = new Uint8Array(40)
  new DataView(bytes.buffer).setBigUint64(0, timestamp + 2n ** 63n)
  bytes.set(messageHash, 8)
  return bytes
}
