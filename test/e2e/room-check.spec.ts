import { expect } from 'chai'
import { createMemoryArchive } from 'waku-light/archive'
import type { LightPushClient, PushResult } from 'waku-light/light-push'
import type { Resume } from 'waku-light/resume'
import type { StoreClient } from 'waku-light/store'
import type { Entry } from '../../examples/chat/model.ts'
import { Room } from '../../examples/chat/room.ts'

describe('Room of the example page, a check that ends after the message was sent again', () => {
  it('does not hide that it was published', async () => {
    const answer = Promise.withResolvers<boolean[]>()
    const results = [
      { status: 'unknown', attempts: [{ reason: 'no-answer', status: 'unknown' }] },
      { status: 'published', relayPeerCount: 3, attempts: [] }
    ] as unknown as PushResult[]
    const room = new Room({
      node: {
        state: { status: 'ready', services: [] },
        connectedPeers: [],
        network: async () => ({ clusterId: 66, shardCount: 8 }),
        onStateChange: () => () => {},
        reconnect: () => {}
      },
      archive: createMemoryArchive(),
      resume: {} as unknown as Resume,
      store: { has: async () => await answer.promise } as unknown as StoreClient,
      lightPush: { push: async () => results.shift() } as unknown as LightPushClient,
      contentTopic: '/waku-light-chat/1/lobby/json',
      nick: 'Ada',
      ownHashes: [],
      onOwnHash: () => {},
      onEvent: () => {}
    })
    await room.send('hello')
    const [entry] = room.entries as [Entry]
    const checking = room.check(entry)
    await room.sendAgain(entry)
    expect(entry.delivery).to.include({ state: 'published' })
    answer.resolve([false])
    await checking
    expect(entry.delivery).to.include({ state: 'published' })
  })
})
