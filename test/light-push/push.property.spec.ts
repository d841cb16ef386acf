import { expect } from 'chai'
import fc from 'fast-check'
import { ConnectionError, TimeoutError, UnsupportedError } from 'waku-light/errors'
import { LightPushClient } from 'waku-light/light-push'
import { messageHash } from 'waku-light/message'
import {
  decodeLegacyPushRequest,
  decodeLightPushRequest,
  decodeWakuMessage,
  LIGHT_PUSH_3_PROTOCOL
} from 'waku-light/wire'
import { PROPERTY } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, type FakeRequest } from '../helpers/fake-peers.ts'
import { PushClock } from '../helpers/push-clock.ts'
import { push2Peer, push3Peer } from '../helpers/push-peers.ts'

const raise = (error: Error) => (): never => {
  throw error
}
const broken = (error: Error): FakePeer => ({ ...push3Peer(), answer: raise(error) })
const down = (error: Error): FakePeer => ({ ...push3Peer(), dial: raise(error) })

interface Behaviour {
  readonly peer: FakePeer
  readonly status: 'published' | 'unknown' | 'failed'
  /** True if it may be asked again for as long as there are tries. */
  readonly isPassing?: boolean
}

/** What a node may do, and what is then known of the message. */
const BEHAVIOURS: readonly Behaviour[] = [
  { peer: push3Peer({ relayPeerCount: 2 }), status: 'published' },
  { peer: push2Peer({ info: 'OK' }), status: 'published' },
  { peer: push3Peer({ relayPeerCount: 0 }), status: 'unknown' },
  { peer: push3Peer({ statusCode: 505 }), status: 'unknown' },
  { peer: push3Peer({ requestId: 'another' }), status: 'unknown' },
  { peer: push3Peer(Uint8Array.of(0xff)), status: 'unknown' },
  { peer: push2Peer({ isSuccess: false, info: 'not_published_to_any_peer' }), status: 'unknown' },
  { peer: broken(new ConnectionError('broken')), status: 'unknown' },
  { peer: broken(new TimeoutError('push', 1)), status: 'unknown' },
  { peer: push3Peer({ statusCode: 429, requestId: 'N/A' }), status: 'failed', isPassing: true },
  { peer: push3Peer({ statusCode: 500 }), status: 'failed', isPassing: true },
  { peer: push3Peer({ statusCode: 504 }), status: 'failed', isPassing: true },
  { peer: push3Peer({ statusCode: 420 }), status: 'failed' },
  { peer: push3Peer({ statusCode: 413 }), status: 'failed' },
  { peer: push2Peer({ isSuccess: false, info: 'RLN validation failed' }), status: 'failed' },
  { peer: down(new ConnectionError('down')), status: 'failed', isPassing: true },
  { peer: down(new UnsupportedError('no')), status: 'failed' },
  { peer: { ...push3Peer(), protocols: [] }, status: 'failed' }
]

const SEEN: Behaviour = {
  peer: push3Peer({ statusCode: 420, statusDesc: 'message already seen' }),
  status: 'failed'
}

/** A node that goes through a list of behaviours, one for each try, and stays with the last. */
class Scripted {
  readonly peerId: string
  /** What it did, in order. */
  readonly shown: Behaviour[] = []
  readonly #script: readonly Behaviour[]

  constructor(peerId: string, script: readonly Behaviour[]) {
    this.peerId = peerId
    this.#script = script
  }

  get peer(): FakePeer {
    const current = (): Behaviour =>
      this.#script[Math.min(this.shown.length, this.#script.length) - 1] as Behaviour
    return {
      peerId: this.peerId,
      get protocols() {
        return current().peer.protocols
      },
      dial: async (signal) => {
        this.shown.push(
          this.#script[Math.min(this.shown.length, this.#script.length - 1)] as Behaviour
        )
        await current().peer.dial?.(signal)
      },
      answer: (request) => current().peer.answer(request)
    }
  }
}

const behaviour = fc.constantFrom(...BEHAVIOURS)
const script = fc.array(fc.oneof({ weight: 9, arbitrary: behaviour }, fc.constant(SEEN)), {
  minLength: 1,
  maxLength: 4
})

function hashOf({ protocol, bytes }: FakeRequest): Uint8Array {
  const { message, pubsubTopic = '' } =
    protocol === LIGHT_PUSH_3_PROTOCOL
      ? decodeLightPushRequest(bytes)
      : decodeLegacyPushRequest(bytes)
  return messageHash(pubsubTopic, decodeWakuMessage(message))
}

function messageOf({ protocol, bytes }: FakeRequest): Uint8Array {
  return protocol === LIGHT_PUSH_3_PROTOCOL
    ? decodeLightPushRequest(bytes).message
    : decodeLegacyPushRequest(bytes).message
}

describe(`LightPushClient.push, over any nodes (seed ${PROPERTY.seed})`, () => {
  it('sends one message, no more often than it may, and claims no more than it knows', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(script, { maxLength: 5 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.uint8Array({ maxLength: 40 }),
        async (scripts, maxAttempts, redundancy, retry, payload) => {
          const nodes = scripts.map((given, index) => new Scripted(`peer-${index}`, given))
          const peers = new FakePeers(nodes.map(({ peer }) => peer))
          const clock = new PushClock()
          const client = new LightPushClient(peers, { ...clock, maxAttempts })
          const result = await client.push(
            { contentTopic: '/app/22/a/proto', payload },
            { redundancy, retry }
          )
          const { attempts, status } = result

          const bound = retry ? maxAttempts : redundancy
          const tries = nodes.reduce((sum, { shown }) => sum + shown.length, 0)
          expect(tries).to.equal(attempts.length).and.at.most(bound)
          for (const request of peers.requests) {
            expect(hashOf(request)).to.deep.equal(result.messageHash)
            expect(messageOf(request)).to.deep.equal(messageOf(peers.requests[0] as FakeRequest))
          }

          const shown = nodes.flatMap((node) => node.shown)
          const isPublished = shown.some((one) => one.status === 'published')
          const mayBeOut = isPublished || shown.some((one) => one.status === 'unknown')
          const isSeen = attempts.some(({ reason }) => reason === 'already-seen')
          expect(status === 'published').to.equal(isPublished || isSeen)
          expect(status === 'failed').to.equal(!mayBeOut)
          if (isSeen) {
            expect(mayBeOut).to.equal(true)
          }

          for (const node of nodes) {
            const before = node.shown.slice(0, -1)
            const unknowns = node.shown.filter((one) => one.status === 'unknown')
            expect(unknowns.length).to.be.at.most(2)
            expect(before.every((one) => one.status === 'unknown' || one.isPassing)).to.equal(true)
          }
          if (redundancy === 1 && status === 'published') {
            expect(attempts.at(-1)?.status).to.equal('published')
            expect(attempts.filter((one) => one.status === 'published')).to.have.length(1)
          }
          const inOrder = attempts.slice(0, nodes.length).map(({ peerId }) => peerId)
          expect(new Set(inOrder).size).to.equal(inOrder.length) // another node first
        }
      ),
      { seed: PROPERTY.seed, numRuns: 400 * PROPERTY.factor }
    ))
})
