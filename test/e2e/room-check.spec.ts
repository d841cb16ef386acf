import { expect } from 'chai'
import type { LightPushClient, PushResult } from 'waku-light/light-push'
import type { StoreClient } from 'waku-light/store'
import type { Entry } from '../../examples/chat/model.ts'
import { roomOf } from './room-of.ts'

describe('Room of the example page, a check that ends after the message was sent again', () => {
  it('does not hide that it was published', async () => {
    const answer = Promise.withResolvers<boolean[]>()
    const results = [
      { status: 'unknown', attempts: [{ reason: 'no-answer', status: 'unknown' }] },
      { status: 'published', relayPeerCount: 3, attempts: [] }
    ] as unknown as PushResult[]
    const room = roomOf({
      store: { has: async () => await answer.promise } as unknown as StoreClient,
      lightPush: { push: async () => results.shift() } as unknown as LightPushClient
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
