import { expect } from 'chai'
import fc from 'fast-check'
import { ConnectionError, TimeoutError } from 'waku-light/errors'
import { LightPushClient } from 'waku-light/light-push'
import { messageHash } from 'waku-light/message'
import {
  decodeLegacyPushRequest,
  decodeLightPushRequest,
  decodeWakuMessage,
  LIGHT_PUSH_3_PROTOCOL
} from 'waku-light/wire'
import { PROPERTY } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { push2Peer, push3Peer } from '../helpers/push-peers.ts'

const raise = (error: Error) => (): never => {
  throw error
}

/** What a node may do, and what is then known of the message. */
const BEHAVIOURS: readonly [(peerId: string) => FakePeer, 'published' | 'unknown' | 'failed'][] = [
  [(id) => push3Peer({ relayPeerCount: 2 }, id), 'published'],
  [(id) => push2Peer({ info: 'OK' }, id), 'published'],
  [(id) => push3Peer({ relayPeerCount: 0 }, id), 'unknown'],
  [(id) => push3Peer({ statusCode: 505 }, id), 'unknown'],
  [(id) => push3Peer({ requestId: 'another' }, id), 'unknown'],
  [(id) => push3Peer(Uint8Array.of(0xff), id), 'unknown'],
  [(id) => push2Peer({ isSuccess: false, info: 'not_published_to_any_peer' }, id), 'unknown'],
  [(id) => ({ ...push3Peer({}, id), answer: raise(new ConnectionError('broken')) }), 'unknown'],
  [(id) => ({ ...push3Peer({}, id), answer: raise(new TimeoutError('push', 1)) }), 'unknown'],
  [(id) => push3Peer({ statusCode: 429, requestId: 'N/A' }, id), 'failed'],
  [(id) => push3Peer({ statusCode: 420 }, id), 'failed'],
  [(id) => push2Peer({ isSuccess: false, info: 'RLN validation failed' }, id), 'failed'],
  [(id) => ({ ...push3Peer({}, id), dial: raise(new ConnectionError('down')) }), 'failed'],
  [(id) => ({ ...push3Peer({}, id), protocols: [] }), 'failed']
]

describe(`LightPushClient.push, over any nodes (seed ${PROPERTY.seed})`, () => {
  it('tries one after the other until one publishes, with identical bytes, and claims no more than it knows', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(BEHAVIOURS.length - 1), { maxLength: 6 }),
        fc.integer({ min: 1, max: 6 }),
        fc.uint8Array({ maxLength: 40 }),
        async (choice, maxAttempts, payload) => {
          const given = choice.map((index) => BEHAVIOURS[index] as (typeof BEHAVIOURS)[number])
          const peers = new FakePeers(given.map(([make], index) => make(`peer-${index}`)))
          const client = new LightPushClient(peers, { maxAttempts })
          const result = await client.push({ contentTopic: '/app/22/a/proto', payload })

          const verdicts = given.slice(0, maxAttempts).map(([, verdict]) => verdict)
          const end = verdicts.indexOf('published')
          const tried = end === -1 ? verdicts : verdicts.slice(0, end + 1)
          const best = (['published', 'unknown'] as const).find((one) => tried.includes(one))
          expect(result.status).to.equal(best ?? 'failed')
          expect(result.attempts.map(({ status }) => status)).to.deep.equal(tried)
          expect(result.attempts.map(({ peerId }) => peerId)).to.deep.equal(
            tried.map((_, index) => `peer-${index}`)
          )
          for (const { protocol, bytes } of peers.requests) {
            const { message, pubsubTopic = '' } =
              protocol === LIGHT_PUSH_3_PROTOCOL
                ? decodeLightPushRequest(bytes)
                : decodeLegacyPushRequest(bytes)
            expect(messageHash(pubsubTopic, decodeWakuMessage(message))).to.deep.equal(
              result.messageHash
            )
          }
        }
      ),
      { seed: PROPERTY.seed, numRuns: 200 * PROPERTY.factor }
    ))
})
