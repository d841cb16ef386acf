import { expect } from 'chai'
import type { LightPushClient, OutgoingMessage, PushResult } from 'waku-light/light-push'
import type { StoreClient } from 'waku-light/store'
import type { Entry } from '../../examples/chat/model.ts'
import { roomOf } from './room-of.ts'

const UNKNOWN = { status: 'unknown', attempts: [{ reason: 'no-answer', status: 'unknown' }] }
const FAILED = { status: 'failed', attempts: [{ reason: 'refused', statusDesc: 'no' }] }
const PUBLISHED = { status: 'published', relayPeerCount: 3, attempts: [] }

/** A room whose pushes and look-ups end as they are told to. */
function roomWith(results: readonly object[], isStored: () => boolean | Error = () => false) {
  const pushed: OutgoingMessage[] = []
  const outcomes = [...results] as PushResult[]
  const ownHashes: string[] = []
  const room = roomOf({
    store: {
      has: async () => {
        const answer = isStored()
        if (answer instanceof Error) {
          throw answer
        }
        return [answer]
      }
    } as unknown as StoreClient,
    lightPush: {
      push: async (message: OutgoingMessage) => {
        pushed.push(message)
        return outcomes.shift()
      }
    } as unknown as LightPushClient,
    onOwnHash: (hash) => ownHashes.push(hash)
  })
  const only = (): Entry => {
    expect(room.entries).to.have.length(1)
    return room.entries[0] as Entry
  }
  return { room, pushed, ownHashes, only }
}

describe('Room of the example page', () => {
  it('knows the hash of a message before it is sent', async () => {
    const { room, ownHashes, only } = roomWith([PUBLISHED])
    await room.send('hello')
    expect(only()).to.deep.include({ hash: ownHashes[0], own: true, stored: false })
    expect(only().delivery).to.deep.equal({ state: 'published', relayPeerCount: 3 })
  })

  it('keeps messages in order that are sent within one instant', async () => {
    const { room, pushed } = roomWith([PUBLISHED, PUBLISHED, PUBLISHED])
    await Promise.all(['a', 'b', 'c'].map((text) => room.send(text)))
    expect(room.entries.map(({ content }) => content?.text)).to.deep.equal(['a', 'b', 'c'])
    expect(new Set(pushed.map(({ timestamp }) => timestamp)).size).to.equal(3)
  })

  it('repeats a message that may be out with identical bytes', async () => {
    const { room, pushed, only } = roomWith([UNKNOWN, PUBLISHED])
    await room.send('hello')
    expect(only().delivery).to.include({ state: 'unknown', reason: 'no answer came' })
    const { hash } = only()
    await room.sendAgain(only())
    expect(pushed[1]).to.deep.equal(pushed[0])
    expect(only()).to.deep.include({ hash, delivery: { state: 'published', relayPeerCount: 3 } })
  })

  it('makes a message anew of which nothing left', async () => {
    const { room, pushed, only } = roomWith([FAILED, PUBLISHED])
    await room.send('hello')
    expect(only().delivery).to.include({ state: 'failed' })
    await room.sendAgain(only())
    expect(pushed[1]?.payload).to.deep.equal(pushed[0]?.payload)
    expect(pushed[1]?.timestamp).to.not.equal(pushed[0]?.timestamp)
    expect(only().delivery?.state).to.equal('published')
  })

  it('takes a message that a service node has for stored', async () => {
    let answer: boolean | Error = new Error('nobody there')
    const { room, only } = roomWith([UNKNOWN], () => answer)
    await room.send('hello')
    await room.check(only())
    expect(only().delivery).to.include({ reason: 'it could not be checked: nobody there' })
    answer = false
    await room.check(only())
    expect(only().delivery).to.include({ reason: 'the service node does not have it (yet)' })
    expect(only().stored).to.equal(false)
    answer = true
    await room.check(only())
    expect(only().stored).to.equal(true)
  })
})
