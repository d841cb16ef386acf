import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { LightPushClient } from 'waku-light/light-push'
import { messageHash, toHex } from 'waku-light/message'
import type { OutboxInit } from 'waku-light/outbox'
import { createOutbox } from 'waku-light/outbox'
import { decodeLightPushRequest, decodeWakuMessage } from 'waku-light/wire'
import { FakePeers } from '../helpers/fake-peers.ts'
import { push3Peer } from '../helpers/push-peers.ts'
import { Tab, text, World } from './world.ts'

describe('createOutbox over a LightPushClient', () => {
  async function play(answers: ('lost' | 'good' | 'late')[], init: Partial<OutboxInit> = {}) {
    const world = new World()
    world.clock.turns = 500
    let stateAtWrite: string | undefined
    const good = push3Peer()
    const peers = new FakePeers([
      {
        ...good,
        answer: async (request) => {
          stateAtWrite ??= (await world.storage.entries())[0]?.state
          if (answers.shift() === 'lost') {
            throw new ConnectionError('lost')
          }
          return await good.answer(request)
        }
      }
    ])
    const { store } = world.components()
    const now = (): number => world.clock.nowMs
    const sleep = (ms: number, signal: AbortSignal) => world.clock.sleep(ms, signal)
    const outbox = await createOutbox(
      { lightPush: new LightPushClient(peers, { now, sleep }), store },
      { ...world.init(new Tab()), ...init }
    )
    const { id } = await outbox.enqueue({ ...text('one'), meta: Uint8Array.of(7), version: 1 })
    await world.clock.pass(60_000)
    const entry = outbox.get(id)
    await outbox.close()
    const requests = peers.requests.map(({ bytes }) => decodeLightPushRequest(bytes))
    return { requests, entry, stateAtWrite }
  }

  it('sends identical bytes again, under the hash that was written down before', async () => {
    let proofs = 0
    const { requests, entry, stateAtWrite } = await play(['lost', 'lost', 'good'], {
      proof: () => Uint8Array.of(++proofs)
    })
    expect(stateAtWrite).to.equal('sending')
    expect(requests).to.have.length(3)
    expect(new Set(requests.map(({ message }) => toHex(message))).size).to.equal(1)
    const [first] = requests
    const message = decodeWakuMessage(first?.message as Uint8Array)
    expect(message.rateLimitProof).to.deep.equal(Uint8Array.of(1))
    expect(entry).to.include({ state: 'published', attempts: 2 })
    expect(entry?.sent[0]?.messageHash).to.deep.equal(
      messageHash(first?.pubsubTopic as string, message)
    )
  })

  it('sends no proof where there is none to ask for', async () => {
    const { requests, entry } = await play(['good'])
    expect(decodeWakuMessage(requests[0]?.message as Uint8Array)).to.not.have.property(
      'rateLimitProof'
    )
    expect(entry?.state).to.equal('published')
  })
})
