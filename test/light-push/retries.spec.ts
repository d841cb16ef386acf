import { expect } from 'chai'
import { ClosedError, ConnectionError, UnsupportedError } from 'waku-light/errors'
import {
  LightPushClient,
  type LightPushClientInit,
  type PushOptions,
  type PushProgress
} from 'waku-light/light-push'
import { failure, failureOf } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import { PushClock } from '../helpers/push-clock.ts'
import { push2Peer, push3Peer } from '../helpers/push-peers.ts'

const outgoing = { contentTopic: '/app/22/a/proto', payload: Uint8Array.of(1, 2, 3) }
const LOST: FakePeer = {
  ...push3Peer(),
  answer: () => {
    throw new ConnectionError('broken')
  }
}
const DOWN: FakePeer = {
  ...push3Peer(),
  dial: () => {
    throw new ConnectionError('down')
  }
}
const code = (statusCode: number, statusDesc?: string): FakePeer =>
  push3Peer({ statusCode, statusDesc })
const BUSY = code(429)
const GOOD = push3Peer({ relayPeerCount: 1 })

/** A node that does one thing after the other, and then the last again. */
function node(peerId: string, ...script: FakePeer[]): FakePeer {
  let tries = 0
  const current = (): FakePeer => script[Math.min(tries, script.length) - 1] as FakePeer
  return {
    peerId,
    protocols: push3Peer().protocols,
    dial: async (signal) => {
      tries++
      await current().dial?.(signal)
    },
    answer: (request) => current().answer(request)
  }
}

async function push(nodes: FakePeer[], options: PushOptions = {}, init: LightPushClientInit = {}) {
  const clock = new PushClock()
  const peers = new FakePeers(nodes)
  const result = await new LightPushClient(peers, { ...clock, ...init }).push(outgoing, options)
  const tries = result.attempts.map(({ peerId }) => peerId).join(' ')
  return { ...result, tries, waits: clock.waits, peers }
}

describe('LightPushClient.push, retries', () => {
  it('tries all nodes at once before it pauses, then those that may take it now', async () => {
    const { status, tries, waits } = await push([
      node('a', DOWN, GOOD),
      node('b', code(420)),
      node('c', code(500))
    ])
    expect(status).to.equal('published')
    expect(tries).to.equal('a b c a')
    expect(waits).to.deep.equal([500])
  })

  it('pauses twice as long each time, up to a bound, jittered down to the half', async () => {
    const init = { maxAttempts: 7, maxBackoffMs: 3000 }
    const { waits } = await push([node('a', DOWN)], { timeoutMs: 60_000 }, init)
    expect(waits).to.deep.equal([500, 1000, 2000, 3000, 3000, 3000])
    const jittered = await push([node('a', DOWN)], {}, { random: () => 0 })
    expect(jittered.waits).to.deep.equal([250, 500, 1000, 2000])
  })

  it('makes no more than maxAttempts tries, that of the push before that of the client', async () => {
    expect((await push([node('a', DOWN)])).attempts).to.have.length(5)
    expect((await push([node('a', DOWN)], {}, { maxAttempts: 2 })).attempts).to.have.length(2)
    const given = await push([node('a', DOWN)], { maxAttempts: 3 }, { maxAttempts: 2 })
    expect(given.attempts).to.have.length(3)
  })

  it('is switched off by retry: false and by maxAttempts: 1', async () => {
    for (const options of [{ retry: false }, { maxAttempts: 1 }]) {
      const { status, tries, waits } = await push([node('a', DOWN), node('b', GOOD)], options)
      expect({ status, tries, waits }).to.deep.equal({ status: 'failed', tries: 'a', waits: [] })
    }
  })

  it('ends early where a pause would end after the deadline', async () => {
    const { status, tries, waits, error } = await push([node('a', DOWN)], { timeoutMs: 1400 })
    expect({ status, tries, waits, error }).to.deep.equal({
      status: 'failed',
      tries: 'a a',
      waits: [500],
      error: undefined
    })
  })

  for (const statusCode of [400, 413, 420, 421]) {
    it(`does not ask a node again that answered ${statusCode}, but asks others`, async () => {
      const refusing = await push([node('a', code(statusCode)), node('b', code(statusCode))])
      expect(refusing).to.deep.include({ status: 'failed', tries: 'a b', waits: [] })
      const taken = await push([node('a', code(statusCode)), node('b', GOOD)])
      expect(taken).to.deep.include({ status: 'published', tries: 'a b' })
    })
  }

  it('does not ask a node again that cannot do it', async () => {
    const { status, tries } = await push([{ ...push3Peer({}, 'a'), protocols: ['/other/1'] }])
    expect({ status, tries }).to.deep.equal({ status: 'failed', tries: 'a' })
  })

  for (const statusCode of [429, 500, 504]) {
    it(`repeats at the only node after ${statusCode}`, async () => {
      const { status, tries } = await push([node('a', code(statusCode), GOOD)])
      expect({ status, tries }).to.deep.equal({ status: 'published', tries: 'a a' })
    })
  }

  for (const [name, answer] of [
    ['503', code(503)],
    ['505', code(505)],
    ['200 with no relay peers', push3Peer({ relayPeerCount: 0 })],
    ['a lost answer', LOST],
    ['garbage', push3Peer(Uint8Array.of(0xff))]
  ] as const) {
    it(`asks a node once more after ${name}, and only where nothing else helps`, async () => {
      const alone = await push([node('a', answer)])
      expect(alone).to.deep.include({ status: 'unknown', tries: 'a a', waits: [500] })
      const beside = await push([node('a', answer), node('b', DOWN, DOWN, DOWN)])
      expect(beside).to.deep.include({ status: 'unknown', tries: 'a b b b b' })
      const helped = await push([node('a', answer), node('b', DOWN, GOOD)])
      expect(helped).to.deep.include({ status: 'published', tries: 'a b b' })
    })
  }

  it('is unknown, not failed, where a repeat after a lost answer is refused', async () => {
    expect(await push([node('a', LOST, code(420))])).to.deep.include({
      status: 'unknown',
      tries: 'a a'
    })
  })

  for (const text of ['message already seen', 'Duplicate message']) {
    it(`takes "${text}" as published after a try that may have left`, async () => {
      const { status, attempts, tries } = await push([node('a', LOST, code(420, text))])
      expect({ status, tries }).to.deep.equal({ status: 'published', tries: 'a a' })
      expect(attempts[1]).to.include({ reason: 'already-seen', statusCode: 420, statusDesc: text })
    })

    it(`takes "${text}" as a refusal where nothing can have left before`, async () => {
      const { status, attempts } = await push([node('a', DOWN), node('b', code(420, text))])
      expect(status).to.equal('failed')
      expect(attempts[1]?.reason).to.equal('refused')
    })
  }

  it('is failed where it turns out that the node read nothing, and throws the reason of an abort then', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    for (const signal of [undefined, controller.signal]) {
      const peers = new FakePeers([push3Peer({}, 'a')])
      peers.request = async (_peer, { encode, onWrite, onUnread }) => {
        encode(push3Peer().protocols[0] as string)
        onWrite?.()
        onUnread?.()
        if (signal !== undefined) {
          controller.abort(reason)
        }
        throw new UnsupportedError('it speaks neither')
      }
      const pushing = new LightPushClient(peers).push(outgoing, { signal })
      if (signal === undefined) {
        expect((await pushing).attempts.map((attempt) => attempt.reason)).to.deep.equal([
          'not-sent'
        ])
      } else {
        expect(await failure(() => pushing)).to.equal(reason)
      }
    }
  })

  it('takes the success of another node after a lost answer as published', async () => {
    const legacy = push2Peer({ info: 'OK' }, 'b')
    expect(await push([node('a', LOST), legacy])).to.include({ status: 'published', tries: 'a b' })
  })

  it('tells of each pause', async () => {
    const events: PushProgress[] = []
    await push([node('a', DOWN, GOOD)], { onProgress: (event) => events.push(event) })
    expect(events.map(({ type }) => type)).to.deep.equal([
      'light-push:sealed',
      'light-push:attempt',
      'light-push:attempted',
      'light-push:pause',
      'light-push:attempt',
      'light-push:attempted'
    ])
    expect(events[3]?.detail).to.deep.equal({ pauseMs: 500 })
  })

  it('ends a pause when the caller aborts, and tries no more', async () => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const sleep = async (_ms: number, signal: AbortSignal): Promise<void> => {
      controller.abort(reason)
      signal.throwIfAborted()
    }
    const { status, error, tries } = await push(
      [node('a', LOST)],
      { signal: controller.signal },
      { sleep }
    )
    expect({ status, error, tries }).to.deep.equal({ status: 'unknown', error: reason, tries: 'a' })
  })

  it('gives up when the node is closed', async () => {
    const closed: FakePeer = {
      ...push3Peer(),
      dial: () => {
        throw new ClosedError()
      }
    }
    await failureOf('ERR_CLOSED', () => push([node('a', DOWN, closed)]))
    expect((await push([node('a', LOST, closed)])).error).to.deep.include({ code: 'ERR_CLOSED' })
  })
})

describe('LightPushClient.push, too many requests', () => {
  it('tries others first, and those that are down again, before a node that rests', async () => {
    expect(await push([node('a', BUSY, GOOD), node('b', DOWN, DOWN, GOOD)])).to.deep.include({
      status: 'published',
      tries: 'a b b a',
      waits: [500, 1000]
    })
  })

  it('waits where it is the only one, longer each time', async () => {
    const { tries, waits, status } = await push([node('a', BUSY, BUSY, GOOD)])
    expect({ tries, status }).to.deep.equal({ tries: 'a a a', status: 'published' })
    expect(waits).to.deep.equal([1000 + 500, 2000 + 1000])
  })

  it('is kept in mind from one push to the next, until its time is over or it answers well', async () => {
    const clock = new PushClock()
    const peers = new FakePeers([node('a', BUSY, GOOD), node('b', GOOD)])
    const client = new LightPushClient(peers, clock)
    const tries = async (): Promise<string> =>
      (await client.push(outgoing)).attempts.map(({ peerId }) => peerId).join(' ')
    expect(await tries()).to.equal('a b')
    expect(await tries()).to.equal('b')
    clock.advance(1000)
    expect(await tries()).to.equal('a')
    expect(clock.waits).to.deep.equal([])
  })

  it('counts once what many pushes hear at the same time', async () => {
    const clock = new PushClock()
    const script = [...Array.from({ length: 20 }, () => BUSY), GOOD]
    const client = new LightPushClient(new FakePeers([node('a', ...script)]), clock)
    const pushes = Array.from({ length: 20 }, () => client.push(outgoing))
    for (const { status, attempts } of await Promise.all(pushes)) {
      expect(status).to.equal('published')
      expect(attempts).to.have.length(2)
    }
    expect(Math.max(...clock.waits)).to.equal(1000 + 500)
  })

  it('does not make a client wait for longer than a pause if the clock is set back', async () => {
    const clock = new PushClock()
    const client = new LightPushClient(new FakePeers([node('a', BUSY, GOOD)]), clock)
    await client.push(outgoing, { retry: false })
    clock.advance(-86_400_000)
    expect((await client.push(outgoing)).status).to.equal('published')
    expect(clock.waits).to.deep.equal([8000 + 500])
  })
})

describe('LightPushClient.push, redundancy', () => {
  const late = (peerId: string, released: Promise<void>): FakePeer => ({
    ...push3Peer({}, peerId),
    answer: async (request) => {
      await released
      return await push3Peer({ relayPeerCount: 3 }).answer(request)
    }
  })

  it('pushes to that many nodes at once, and ends when that many took it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const peers = new FakePeers([late('a', promise), late('b', promise), late('c', promise)])
    const pushing = new LightPushClient(peers).push(outgoing, { redundancy: 2 })
    while (peers.requests.length < 2) {
      await Promise.resolve()
    }
    resolve()
    const { status, attempts, relayPeerCount } = await pushing
    expect({ status, relayPeerCount }).to.deep.equal({ status: 'published', relayPeerCount: 3 })
    expect(attempts.map(({ peerId }) => peerId)).to.deep.equal(['a', 'b'])
    expect(peers.requests).to.have.length(2)
  })

  it('goes on at other nodes for those that fail, at none twice that took it', async () => {
    const { status, tries } = await push([node('a', DOWN), node('b', GOOD), node('c', GOOD)], {
      redundancy: 2
    })
    expect(status).to.equal('published')
    expect(tries.split(' ').sort()).to.deep.equal(['a', 'b', 'c'])
  })

  it('does not pause for more once it is published', async () => {
    const { status, attempts, waits } = await push([node('a', GOOD), node('b', DOWN)], {
      redundancy: 2
    })
    expect(status).to.equal('published')
    expect(attempts).to.have.length(2)
    expect(waits).to.deep.equal([])
  })

  it('ends a pause when another node takes it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const sleep = (_ms: number, signal: AbortSignal): Promise<void> => {
      resolve()
      return never(signal)
    }
    const { status, attempts } = await push(
      [late('a', promise), node('b', DOWN)],
      { redundancy: 2 },
      { sleep }
    )
    expect(status).to.equal('published')
    expect(attempts).to.have.length(2)
  })

  it('leaves a node alone that may have it from another', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const has: FakePeer = {
      ...code(505),
      answer: async (request) => {
        await promise
        return await code(505).answer(request)
      }
    }
    const { status, tries } = await push([node('a', GOOD), node('b', has), node('c', GOOD)], {
      redundancy: 2,
      onProgress: ({ type }) => {
        if (type === 'light-push:attempted') {
          resolve()
        }
      }
    })
    expect({ status, tries }).to.deep.equal({ status: 'published', tries: 'a b' })
  })

  it('is bounded by the nodes that there are, and by the tries', async () => {
    expect((await push([node('a', GOOD)], { redundancy: 1e9 })).attempts).to.have.length(1)
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => node(name, GOOD))
    expect((await push(nodes, { redundancy: 7 })).attempts).to.have.length(5)
    const all = await push(nodes, { redundancy: 7, retry: false })
    expect(all.attempts).to.have.length(7)
  })
})
