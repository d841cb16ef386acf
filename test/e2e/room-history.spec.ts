import { expect } from 'chai'
import { createMemoryArchive } from 'waku-light/archive'
import { messageHash } from 'waku-light/message'
import type { Resume } from 'waku-light/resume'
import type { StoreClient } from 'waku-light/store'
import { encodeContent } from '../../examples/chat/model.ts'
import { CONTENT_TOPIC, roomOf } from './room-of.ts'

function stored(text: string, timestamp: bigint) {
  const message = {
    contentTopic: CONTENT_TOPIC,
    payload: encodeContent({ nick: 'Bob', text }),
    timestamp
  }
  const pubsubTopic = '/waku/2/rs/66/0'
  return { ...message, pubsubTopic, messageHash: messageHash(pubsubTopic, message) }
}

describe('Room of the example page, whose first page of history failed', () => {
  it('shows what comes after that', async () => {
    const archive = createMemoryArchive()
    const room = roomOf(
      {
        archive,
        resume: { follow: () => new Promise<never>(() => {}) } as unknown as Resume,
        store: {
          // biome-ignore lint/correctness/useYield: it fails first
          queryPages: async function* () {
            await archive.putMany([stored('while it loads', 1n)])
            throw new Error('busy')
          }
        } as unknown as StoreClient
      },
      'connecting'
    )
    room.open().catch(() => undefined)
    for (let turn = 0; turn < 50; turn++) {
      await Promise.resolve()
    }
    await new Promise((resolve) => setImmediate(resolve))
    expect(room.history.state).to.equal('failed')
    await archive.putMany([stored('a', 2n), stored('b', 3n)])
    await archive.putMany([stored('c', 4n)])
    expect(room.entries.map(({ content }) => content?.text)).to.deep.equal([
      'while it loads',
      'a',
      'b',
      'c'
    ])
    room.close()
  })
})
