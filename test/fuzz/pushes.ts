import { hasErrorCode, isWakuLightError } from 'waku-light/errors'
import { LightPushClient, type PushResult } from 'waku-light/light-push'
import { messageHash, toHex } from 'waku-light/message'
import {
  decodeLegacyPushRequest,
  decodeLightPushRequest,
  decodeWakuMessage,
  encodeLegacyPushResponse,
  encodeLightPushResponse,
  LIGHT_PUSH_2_PROTOCOL,
  LIGHT_PUSH_3_PROTOCOL
} from 'waku-light/wire'
import { SCRIPT_NAMES } from './malice.ts'
import { MemoryPeers } from './memory-peers.ts'
import type { Random } from './random.ts'
import { always, settled } from './watch.ts'

const MAX_ATTEMPTS = 6
const CODES = [0, 200, 200, 204, 300, 400, 413, 420, 421, 429, 500, 503, 504, 505, 4294967295]
const TEXTS = [
  undefined,
  '',
  'OK',
  'already seen',
  'TOO_MANY_REQUESTS',
  'not_published_to_any_peer'
]

/**
 * Pushes some messages through nodes that answer what they like, how they like.
 *
 * @returns how many frames were fed
 */
export async function fuzzPush(random: Random): Promise<number> {
  const reason = new Error('given up')
  let giveUp = new AbortController()
  let lastId = 'N/A'
  const isHostile = random.chance(0.8)
  const answer = (protocol: string, bytes: Uint8Array): Uint8Array => {
    const isNewer = protocol === LIGHT_PUSH_3_PROTOCOL
    const { requestId } = (isNewer ? decodeLightPushRequest : decodeLegacyPushRequest)(bytes)
    const id = random.chance(0.8) ? requestId : random.pick([lastId, '', 'N/A'])
    lastId = requestId
    const text = random.pick(TEXTS)
    const statusCode = random.pick(CODES)
    return isNewer
      ? encodeLightPushResponse({
          requestId: id,
          statusCode,
          statusDesc: text,
          relayPeerCount: random.pick([undefined, 0, 1, 5])
        })
      : encodeLegacyPushResponse({ requestId: id, isSuccess: statusCode < 400, info: text })
  }
  const peers = new MemoryPeers(random, {
    protocols: Array.from({ length: 1 + random.int(3) }, () =>
      random.pick([LIGHT_PUSH_2_PROTOCOL, LIGHT_PUSH_3_PROTOCOL])
    ),
    answer,
    script: () => (isHostile && random.chance(0.7) ? random.pick(SCRIPT_NAMES) : 'honest'),
    onSilence: () => giveUp.abort(reason)
  })
  let now = 1_700_000_000_000
  const client = new LightPushClient(peers, {
    maxAttempts: MAX_ATTEMPTS,
    now: () => now++,
    random: () => random.next(),
    sleep: async (ms) => {
      now += ms
    }
  })
  const pushes: Push[] = []
  try {
    for (let count = 1 + random.int(4); count > 0; count--) {
      giveUp = new AbortController()
      const redundancy = 1 + random.int(3)
      const retry = random.chance(0.9)
      const push: Push = { maxTries: retry ? MAX_ATTEMPTS : redundancy }
      pushes.push(push)
      const call = client.push(
        { contentTopic: '/app/22/a/proto', payload: random.bytes(random.int(300)) },
        {
          redundancy,
          retry,
          signal: giveUp.signal,
          onProgress: (event) => {
            if (event.type === 'light-push:sealed') {
              push.hash = toHex(event.detail.messageHash)
            }
          }
        }
      )
      const outcome = await settled('a push', call, reason)
      if ('error' in outcome) {
        push.maxTries = 0 // nothing may have left
      } else {
        check(outcome.value, reason)
      }
    }
  } finally {
    await peers.close()
  }
  checkSent(pushes, peers.requests)
  return peers.requests.length
}

/** What was asked of the client. */
interface Push {
  maxTries: number
  hash?: string
}

/** That the result claims no more than the attempts, and these no more than they can. */
function check({ status, attempts }: PushResult, reason: unknown): void {
  for (const { error, status: tried, statusCode } of attempts) {
    always(
      error === undefined || error === reason || isWakuLightError(error),
      'an attempt failed for a reason that is not of this package'
    )
    always(!hasErrorCode(error, 'ERR_TIMEOUT'), 'a deadline passed')
    always(tried !== 'published' || status === 'published', 'a success was forgotten')
    always(statusCode === undefined || error === undefined, 'an answer and an error')
  }
  always(
    status !== 'failed' || attempts.every((attempt) => attempt.status === 'failed'),
    'failed, although something may have left'
  )
}

/** That what arrived is what was pushed, each the same every time, and not too often. */
function checkSent(pushes: readonly Push[], requests: MemoryPeers['requests']): void {
  const arrived = new Map<string, string[]>()
  for (const request of requests) {
    const [hash, message] = messageOf(request)
    arrived.set(hash, [...(arrived.get(hash) ?? []), message])
  }
  for (const { hash, maxTries } of pushes) {
    const copies = arrived.get(hash ?? '') ?? []
    always(copies.length <= maxTries, `${copies.length} copies left, of ${maxTries}`)
    always(new Set(copies).size <= 1, 'a message was sent in several ways')
    arrived.delete(hash ?? '')
  }
  always(arrived.size === 0, 'a message was sent that nobody pushed')
}

function messageOf({ protocol, bytes }: MemoryPeers['requests'][number]): [string, string] {
  const isNewer = protocol === LIGHT_PUSH_3_PROTOCOL
  const { message, pubsubTopic = '' } = (
    isNewer ? decodeLightPushRequest : decodeLegacyPushRequest
  )(bytes)
  return [toHex(messageHash(pubsubTopic, decodeWakuMessage(message))), toHex(message)]
}
