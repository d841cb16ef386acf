import { lpStream, streamPair } from '@libp2p/utils'
import { expect } from 'chai'
import { RECONCILIATION_PROTOCOL, TRANSFER_PROTOCOL } from 'waku-light/wire'
import type { SyncProgress, SyncRejection } from '../../src/sync/index.ts'
import { decodeSyncPayload, encodeSyncPayload } from '../../src/wire/sync.ts'
import type { SyncId, SyncPayload, SyncRange } from '../../src/wire/sync-payload.ts'
import { encodeTransfer } from '../../src/wire/sync-transfer.ts'
import { closeSyncs, makeMessages, NOW, NOW_MS, startSync, storeOf } from './fixtures.ts'
import { MemoryNode } from './memory-network.ts'
import { PUBSUB_TOPIC, toHash } from './twin.ts'

const START = NOW - 3_620_000_000_000n
const END = NOW - 20_000_000_000n
const SCOPE: SyncPayload['scope'] = { layout: 'topics', pubsubTopics: [], contentTopics: [] }

describe('a peer that means harm', () => {
  afterEach(closeSyncs)

  function pair(): [MemoryNode, MemoryNode] {
    const nodes: [MemoryNode, MemoryNode] = [new MemoryNode('ours'), new MemoryNode('theirs')]
    nodes[0].connect(nodes[1])
    return nodes
  }

  function encode(...ranges: SyncRange[]): Uint8Array {
    return encodeSyncPayload({ scope: SCOPE, ranges })
  }

  function listed(items: readonly SyncId[], reconciled = true): Uint8Array {
    return encode({ type: 'item-set', lower: START, upper: END, items, reconciled })
  }

  /** What comes of a sync with a peer that answers each payload by the next of these; with the last one again and again. */
  async function syncWith(
    answers: readonly (Uint8Array | undefined)[],
    options: Parameters<typeof startSync>[2] = {},
    messages = makeMessages(20)
  ) {
    const [a, b] = pair()
    let asked = 0
    b.script(RECONCILIATION_PROTOCOL, async (frames) => {
      for (;;) {
        await frames.read()
        const answer = answers[Math.min(asked++, answers.length - 1)]
        if (answer === undefined) {
          return
        }
        await frames.write(answer)
      }
    })
    const { sync, archive } = await startSync(a, messages, {
      sleep: async () => undefined,
      ...options
    })
    const outcome = await sync.syncNow({ peer: 'theirs' }).catch((error: unknown) => error)
    return { outcome, asked: () => asked, archive, sync }
  }

  it('that answers forever is left after a hundred payloads', async () => {
    const fingerprint = new Uint8Array(32).fill(7)
    const again = encode({ type: 'fingerprint', lower: START, upper: END, fingerprint })
    const { outcome, asked } = await syncWith([again])
    expect(outcome).to.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 100 })
    expect(asked()).to.be.within(100, 102)
  })

  it('that says again and again that it has nothing is not listened to for long', async () => {
    const { outcome, asked } = await syncWith([listed([], false)], { maxMessages: 50 })
    expect(outcome).to.include({ outcome: 'partial', rounds: 3, missing: 0 })
    expect(asked()).to.be.within(3, 4)
  })

  it('that lists other items each time is not listened to for long', async () => {
    const answers = [1, 2, 3, 4, 5].map((round) =>
      listed(
        Array.from({ length: 20 }, (_, index) => ({
          timestamp: START + BigInt(index),
          hash: new Uint8Array(32).fill(20 * round + index)
        })),
        false
      )
    )
    const { outcome } = await syncWith(answers, { maxMessages: 50 }, [])
    expect(outcome).to.include({ outcome: 'partial', rounds: 3, missing: 60 })
  })

  it('that claims a million items is left before they are read', async () => {
    // topics 0, 0; base; upper; item set; a million
    const head = encode({ type: 'skip', lower: START, upper: END })
    const frame = Uint8Array.of(...head.slice(0, -1), 2, 0xc0, 0x84, 0x3d)
    const { outcome } = await syncWith([frame])
    expect(outcome).to.have.property('code', 'ERR_LIMIT_EXCEEDED')
  })

  it('that announces a frame of 200 MB is left before it is read', async () => {
    const [a, b] = pair()
    b.handlers.set(RECONCILIATION_PROTOCOL, (stream) => {
      stream.send(Uint8Array.of(0x80, 0x84, 0xaf, 0x5f))
    })
    const { sync } = await startSync(a, [])
    const error = await sync.syncNow({ peer: 'theirs' }).catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'ERR_LIMIT_EXCEEDED')
  })

  it('that sends ranges outside of the window is left', async () => {
    const wide = encode(
      { type: 'skip', lower: START - 1n, upper: START },
      {
        type: 'item-set',
        lower: START,
        upper: END,
        items: [],
        reconciled: false
      }
    )
    const { outcome } = await syncWith([wide])
    expect(outcome).to.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'window' })
  })

  it('that sends items out of order is left', async () => {
    const good = listed([
      { timestamp: START + 1n, hash: toHash(1) },
      { timestamp: START + 2n, hash: toHash(2) }
    ])
    // the second time, one nanosecond later, becomes the same time; the hashes descend then
    const bad = good.slice()
    bad[bad.length - 34] = 0
    const { outcome } = await syncWith([bad])
    expect(outcome)
      .to.have.property('code')
      .that.matches(/ERR_(INVALID_MESSAGE|PROTOCOL_VIOLATION)/)
  })

  it('that sends garbage is left', async () => {
    const { outcome } = await syncWith([new Uint8Array(300).fill(0xff)])
    expect(outcome).to.have.property('code', 'ERR_INVALID_MESSAGE')
  })

  it('that says nothing is left in time', async () => {
    const [a, b] = pair()
    b.script(RECONCILIATION_PROTOCOL, () => new Promise(() => undefined))
    const { sync } = await startSync(a, [], { replyTimeoutMs: 20 })
    const error = await sync.syncNow({ peer: 'theirs' }).catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'ERR_TIMEOUT')
  })

  it('that closes at once is told from being in sync', async () => {
    const { outcome } = await syncWith([undefined])
    expect(outcome).to.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'no-answer' })
  })

  it('that closes midway leaves a partial session', async () => {
    const fingerprint = new Uint8Array(32)
    const first = encode({ type: 'fingerprint', lower: START, upper: END, fingerprint })
    const { outcome } = await syncWith([first, undefined])
    expect(outcome).to.deep.include({ outcome: 'partial', rounds: 1 })
  })

  it('that claims items which nobody has costs two look-ups a store', async () => {
    const items = Array.from({ length: 5_000 }, (_, index) => ({
      timestamp: START + BigInt(index + 1),
      hash: toHash(index)
    }))
    const asked: string[] = []
    const { outcome } = await syncWith([listed(items)], { store: storeOf({}, asked) })
    expect(outcome).to.deep.include({ outcome: 'partial', missing: 5_000, received: 0 })
    expect(asked).to.have.lengthOf(2)
  })

  it('that claims a message at another time changes nothing about the message', async () => {
    const [other] = makeMessages(1)
    const items = [{ timestamp: START + 5n, hash: other!.messageHash }]
    const store = storeOf({ theirs: [other!] })
    const { outcome, archive } = await syncWith([listed(items)], { store })
    expect(outcome).to.deep.include({ received: 1 })
    expect(await archive.count()).to.equal(21)
  })

  it('whose store answers with other messages gets nothing stored', async () => {
    const [wanted, other] = makeMessages(2)
    const items = [{ timestamp: wanted!.timestamp!, hash: wanted!.messageHash }]
    const forged = { ...other!, messageHash: wanted!.messageHash }
    const { outcome, archive } = await syncWith([listed(items)], {
      store: storeOf({ theirs: [forged] })
    })
    expect(outcome).to.deep.include({ outcome: 'partial', missing: 1, received: 0 })
    expect(await archive.count()).to.equal(20)
  })

  describe('in a transfer', () => {
    /** Sends frames while and after a session in which the peer said that it has `claimed`. */
    async function transferWith(
      claimed: readonly SyncId[],
      frames: readonly Uint8Array[],
      options: Parameters<typeof startSync>[2] = {}
    ) {
      const [a, b] = pair()
      const rejected: SyncRejection[] = []
      const ours = await startSync(a, [], { sleep: () => new Promise(() => undefined), ...options })
      ours.sync.onEvent(
        ({ type, detail }) => type === 'sync:rejected' && rejected.push(detail.reason)
      )
      const taken = Promise.withResolvers<void>()
      b.script(RECONCILIATION_PROTOCOL, async (stream) => {
        await stream.read()
        await stream.write(listed(claimed, false))
        await stream.read()
        await stream.write(encodeSyncPayload('no-ranges'))
        // the end: from now on the session knows what it lacks
        await stream.read().catch(() => undefined)
        const transfer = await b.open(a, TRANSFER_PROTOCOL)
        transfer.addEventListener('close', () => taken.resolve())
        const writer = lpStream(transfer)
        try {
          for (const frame of frames) {
            await writer.write(frame)
          }
          await transfer.close()
        } catch {
          // it was reset
        }
      })
      const call = ours.sync.syncNow({ peer: 'theirs' }).catch((error: unknown) => error)
      await taken.promise
      return { ...ours, call, rejected }
    }

    const frameOf = (message: ReturnType<typeof makeMessages>[number]): Uint8Array =>
      encodeTransfer({ pubsubTopic: message.pubsubTopic, message })

    it('gets nothing stored that the session did not find missing', async () => {
      const [wanted, ...unasked] = makeMessages(5)
      const claimed = [{ timestamp: wanted!.timestamp!, hash: wanted!.messageHash }]
      const { archive, rejected, call } = await transferWith(
        claimed,
        [...unasked, wanted!].map(frameOf)
      )
      expect(await call).to.deep.include({ outcome: 'reconciled', received: 1 })
      expect(await archive.count()).to.equal(1)
      expect(rejected).to.deep.equal(Array(4).fill('unexpected'))
    })

    it('gets nothing stored of other topics, other times, or that no archive takes', async () => {
      const [wanted] = makeMessages(1)
      const claimed = [{ timestamp: wanted!.timestamp!, hash: wanted!.messageHash }]
      const bad = [
        ...makeMessages(1, { pubsubTopic: '/waku/2/rs/16/1' }),
        ...makeMessages(1, { timestamp: NOW }),
        ...makeMessages(1, { timestamp: START - 1n }),
        ...makeMessages(1, { ephemeral: true }),
        ...makeMessages(1, { meta: new Uint8Array(65) })
      ].map(frameOf)
      const { archive, rejected, call } = await transferWith(
        claimed,
        [...bad, Uint8Array.of(1, 2, 3), frameOf(wanted!)],
        { pubsubTopics: [PUBSUB_TOPIC] }
      )
      await call
      expect(await archive.count()).to.equal(1)
      expect(rejected).to.deep.equal([
        'outside',
        'outside',
        'outside',
        'invalid',
        'invalid',
        'invalid'
      ])
    })

    it('is cut off after a thousand frames that nobody asked for', async () => {
      const [wanted, ...unasked] = makeMessages(1_101)
      const claimed = [{ timestamp: wanted!.timestamp!, hash: wanted!.messageHash }]
      const { archive, rejected, sync, call } = await transferWith(claimed, unasked.map(frameOf))
      expect(rejected).to.have.lengthOf(1_001)
      expect(await archive.count()).to.equal(0)
      await sync.close()
      expect(await call).to.have.property('code', 'ERR_CLOSED')
    })

    it('is cut off with more than the session takes', async () => {
      const messages = makeMessages(30)
      const claimed = messages
        .map(({ timestamp = 0n, messageHash: hash }) => ({ timestamp, hash }))
        .reverse()
      const { archive, sync, call } = await transferWith(claimed, messages.map(frameOf), {
        maxMessages: 10
      })
      expect(await archive.count()).to.equal(10)
      await sync.close()
      await call
    })

    it('is cut off with a frame over 153,600 bytes', async () => {
      const { archive, sync, call } = await transferWith(
        [{ timestamp: START + 1n, hash: toHash(1) }],
        [new Uint8Array(153_601)]
      )
      expect(await archive.count()).to.equal(0)
      await sync.close()
      await call
    })

    it('is reset where there is no session', async () => {
      const [a, b] = pair()
      const { archive } = await startSync(a, [])
      const transfer = await b.open(a, TRANSFER_PROTOCOL)
      const reset = Promise.withResolvers<unknown>()
      transfer.addEventListener('close', ({ error }) => reset.resolve(error))
      expect(await reset.promise).to.be.an('error')
      expect(await archive.count()).to.equal(0)
    })

    it('is taken for a minute after the session, as far as it was found missing', async () => {
      let now = NOW_MS
      const [a, b] = pair()
      const [late, later] = makeMessages(2)
      const ours = await startSync(a, [], { now: () => now, sleep: async () => undefined })
      const items = [later!, late!].map(({ timestamp = 0n, messageHash: hash }) => ({
        timestamp,
        hash
      }))
      b.script(RECONCILIATION_PROTOCOL, async (stream) => {
        await stream.read()
        await stream.write(listed(items))
      })
      expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'partial', missing: 2 })
      const received = Promise.withResolvers<void>()
      ours.sync.onEvent(({ type }) => type === 'sync:received' && received.resolve())
      await lpStream(await b.open(a, TRANSFER_PROTOCOL)).write(frameOf(late!))
      await received.promise
      now += 60_001
      const transfer = await b.open(a, TRANSFER_PROTOCOL)
      const reset = Promise.withResolvers<void>()
      transfer.addEventListener('close', () => reset.resolve())
      await reset.promise
      expect(await ours.archive.count()).to.equal(1)
    })
  })

  describe('as initiator', () => {
    async function served(options: Parameters<typeof startSync>[2] = {}) {
      const [a, b] = pair()
      const ours = await startSync(a, makeMessages(20), { serve: true, ...options })
      const events: SyncProgress[] = []
      ours.sync.onEvent((event) => events.push(event))
      return { a, b, events, ...ours }
    }

    /** Whether the other side closed the stream without a word. */
    async function isClosed(stream: Awaited<ReturnType<MemoryNode['open']>>): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      stream.addEventListener('message', () => resolve(false))
      stream.addEventListener('remoteCloseWrite', () => resolve(true))
      stream.addEventListener('close', () => resolve(true))
      return await promise
    }

    it('gets one session at a time', async () => {
      const { a, b } = await served()
      const first = await b.open(a, RECONCILIATION_PROTOCOL)
      expect(await isClosed(await b.open(a, RECONCILIATION_PROTOCOL))).to.equal(true)
      first.abort(new Error('done'))
    })

    it('gets no more sessions than are allowed together with others', async () => {
      const { a, b } = await served({ maxServedSessions: 1 })
      const c = new MemoryNode('third')
      a.connect(c)
      const first = await c.open(a, RECONCILIATION_PROTOCOL)
      expect(await isClosed(await b.open(a, RECONCILIATION_PROTOCOL))).to.equal(true)
      first.abort(new Error('done'))
    })

    for (const [what, payload] of [
      ['garbage', new Uint8Array(50).fill(0xfe)],
      ['nothing to compare', Uint8Array.of(0)],
      ['an empty payload', new Uint8Array(0)]
    ] as const) {
      it(`that begins with ${what} is left without an answer`, async () => {
        const { a, b, archive } = await served()
        const stream = await b.open(a, RECONCILIATION_PROTOCOL)
        const closed = isClosed(stream)
        await lpStream(stream).write(payload)
        expect(await closed).to.equal(true)
        expect(await archive.count()).to.equal(20)
      })
    }

    it('that asks for less than a fingerprint may span gets an answer', async () => {
      const { a, b } = await served()
      const stream = lpStream(await b.open(a, RECONCILIATION_PROTOCOL))
      const fingerprint = new Uint8Array(32).fill(7)
      const upper = NOW - 21_600_000_000_000n + 7n
      await stream.write(encode({ type: 'fingerprint', lower: 0n, upper, fingerprint }))
      const answer = decodeSyncPayload((await stream.read()).subarray())
      expect(answer).to.not.equal('mismatch')
    })

    it('that asks for all of time gets six hours', async () => {
      const { a, b, archive, events } = await served()
      await archive.putMany(makeMessages(5, {}, 100_000))
      const stream = lpStream(await b.open(a, RECONCILIATION_PROTOCOL))
      const fingerprint = new Uint8Array(32)
      const upper = 2n ** 62n
      await stream.write(encode({ type: 'fingerprint', lower: 0n, upper, fingerprint }))
      const answer = decodeSyncPayload((await stream.read()).subarray())
      const listedTimes =
        typeof answer === 'string'
          ? []
          : answer.ranges.flatMap((range) => (range.type === 'item-set' ? range.items : []))
      expect(listedTimes.every(({ timestamp }) => timestamp > NOW - 21_600_000_000_000n)).to.equal(
        true
      )
      expect(events[0]).to.have.nested.property(
        'detail.window.timeStart',
        NOW - 21_600_000_000_000n
      )
    })
  })

  it('makes no session of a stream that is reset while it is answered', async () => {
    const [outbound, inbound] = await streamPair()
    inbound.abort(new Error('gone'))
    outbound.abort(new Error('gone'))
    const [a, b] = pair()
    b.handlers.set(RECONCILIATION_PROTOCOL, (stream) => stream.abort(new Error('gone')))
    const { sync } = await startSync(a, [])
    const error = await sync.syncNow({ peer: 'theirs' }).catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'ERR_CONNECTION')
  })
})
