import { lpStream } from '@libp2p/utils'
import { expect } from 'chai'
import { hasErrorCode, StorageError } from 'waku-light/errors'
import { toHex } from 'waku-light/message'
import {
  encodeStoreQueryRequest,
  RECONCILIATION_PROTOCOL,
  STORE_QUERY_3_PROTOCOL,
  TRANSFER_PROTOCOL
} from 'waku-light/wire'
import type { SyncProgress } from '../../src/sync/index.ts'
import { decodeSyncPayload, encodeSyncPayload } from '../../src/wire/sync.ts'
import { encodeTransfer } from '../../src/wire/sync-transfer.ts'
import { closeSyncs, makeMessages, NOW, NOW_MS, startSync, storeOf } from './fixtures.ts'
import { MemoryNode } from './memory-network.ts'
import { ReferenceNode } from './reference.ts'
import { PUBSUB_TOPIC } from './twin.ts'

describe('createSync', () => {
  afterEach(closeSyncs)

  function pair(): [MemoryNode, MemoryNode] {
    const nodes: [MemoryNode, MemoryNode] = [new MemoryNode('ours'), new MemoryNode('theirs')]
    nodes[0].connect(nodes[1])
    return nodes
  }

  it('leaves both sides with the union, in archive and index', async () => {
    const [a, b] = pair()
    const [shared, first, second] = [makeMessages(50), makeMessages(70), makeMessages(90)]
    const ours = await startSync(a, [...shared, ...first])
    const theirs = await startSync(b, [...shared, ...second], { serve: true })
    const served = Promise.withResolvers<SyncProgress['detail']>()
    theirs.sync.onEvent(({ type, detail }) => type === 'sync:end' && served.resolve(detail))
    const result = await ours.sync.syncNow()
    expect(result).to.deep.include({
      peerId: 'theirs',
      outcome: 'reconciled',
      received: 90,
      sent: 70,
      missing: 0,
      unsent: 0
    })
    expect(await served.promise).to.deep.include({
      peerId: 'ours',
      role: 'responder',
      outcome: 'reconciled',
      received: 70,
      sent: 90
    })
    for (const { sync, archive } of [ours, theirs]) {
      expect([await archive.count(), sync.indexSize]).to.deep.equal([210, 210])
    }
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'in-sync', rounds: 1 })
  })

  it('moves messages of another content topic for nobody', async () => {
    const [a, b] = pair()
    const [here, there] = [makeMessages(3), makeMessages(4, { contentTopic: '/other/1/a/proto' })]
    const ours = await startSync(a, [], { contentTopics: ['/app/1/chat/proto'] })
    await startSync(b, [...here, ...there], { serve: true })
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'reconciled', received: 3 })
  })

  it('tells a mismatch from being in sync, on both sides', async () => {
    const [a, b] = pair()
    const ours = await startSync(a, [], { contentTopics: ['/app/1/a/proto'] })
    const theirs = await startSync(b, [], { contentTopics: ['/app/1/b/proto'], serve: true })
    const served = Promise.withResolvers<SyncProgress['detail']>()
    theirs.sync.onEvent(({ type, detail }) => type === 'sync:end' && served.resolve(detail))
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'mismatch' })
    expect(await served.promise).to.deep.include({ outcome: 'mismatch' })
  })

  it('does not transfer what is too large, and says so', async () => {
    const [a, b] = pair()
    const ours = await startSync(a, makeMessages(1, { payload: new Uint8Array(153_560) }))
    await startSync(b, [], { serve: true, sleep: async () => undefined })
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'partial', sent: 0, unsent: 1 })
  })

  it('rejects with what is wrong with the archive, and tries no other peer', async () => {
    const [a, b] = pair()
    a.connect(new MemoryNode('other'))
    const { sync, archive } = await startSync(a, makeMessages(1))
    await startSync(b, [], { serve: true })
    const failure = new StorageError('unavailable', 'out of order')
    archive.get = async () => await Promise.reject(failure)
    expect(await sync.syncNow().catch((error: unknown) => error)).to.equal(failure)
  })

  it('asks nobody who does not say that it can', async () => {
    const [a] = pair()
    const { sync } = await startSync(a, [])
    const error = await sync.syncNow().catch((reason: unknown) => reason)
    expect(hasErrorCode(error, 'ERR_NO_USABLE_PEER') && error.failures).to.deep.equal([])
  })

  it('tells that an archive fails a look-up', async () => {
    const [a, b] = pair()
    const { sync, archive } = await startSync(a, [], { serve: true })
    const failure = new StorageError('unavailable', 'out of order')
    archive.get = async () => await Promise.reject(failure)
    const told = Promise.withResolvers<unknown>()
    sync.onEvent(({ type, detail }) => type === 'sync:failed' && told.resolve(detail))
    // there has to be a session
    await (await startSync(b, [])).sync.syncNow()
    const stream = lpStream(await b.open(a, STORE_QUERY_3_PROTOCOL))
    await stream.write(
      encodeStoreQueryRequest({
        requestId: 'r',
        includeData: true,
        contentTopics: [],
        messageHashes: [new Uint8Array(32)],
        paginationForward: true
      })
    )
    expect(await told.promise).to.deep.equal({ peerId: 'theirs', error: failure })
  })

  it('asks store nodes for what is not transferred: the peer first, then others', async () => {
    const a = new MemoryNode('ours')
    const [b, c] = [new MemoryNode('theirs'), new MemoryNode('other')]
    a.connect(b, c)
    const messages = makeMessages(250)
    const asked: string[] = []
    const store = storeOf({ theirs: messages.slice(0, 120), other: messages }, asked)
    const ours = await startSync(a, [], { store, sleep: async () => undefined })
    await startSync(b, messages, { serve: true })
    // it pushes nothing to us
    a.handlers.delete(TRANSFER_PROTOCOL)
    const result = await ours.sync.syncNow({ peer: 'theirs' })
    expect(result).to.deep.include({ outcome: 'reconciled', received: 250, missing: 0 })
    expect(asked).to.deep.equal(['theirs', 'theirs', 'theirs', 'other', 'other'])
  })

  it('leaves a store that has nothing after two batches', async () => {
    const [a, b] = pair()
    const asked: string[] = []
    const ours = await startSync(a, [], { store: storeOf({}, asked), sleep: async () => undefined })
    await startSync(b, makeMessages(500), { serve: true })
    a.handlers.delete(TRANSFER_PROTOCOL)
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'partial', missing: 500 })
    expect(asked).to.have.lengthOf(2)
  })

  it('gives a store client nothing to do where all is transferred', async () => {
    const [a, b] = pair()
    const asked: string[] = []
    const ours = await startSync(a, [], { store: storeOf({}, asked) })
    await startSync(b, makeMessages(10), { serve: true })
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'reconciled', received: 10 })
    expect(asked).to.be.empty
  })

  for (const reversed of [false, true]) {
    it(`reads a transfer with its fields ${reversed ? 'as specified' : 'as the reference node has them'}`, async () => {
      const [a, b] = pair()
      const [message] = makeMessages(1)
      const ours = await startSync(a, [])
      const reference = new ReferenceNode([toEntryOf(message!)], [PUBSUB_TOPIC])
      b.agentVersion = 'nwaku-v0.38.1'
      b.script(RECONCILIATION_PROTOCOL, async (frames) => {
        for (;;) {
          const step = reference.process((await frames.read()).subarray())
          if (step.reply !== undefined) {
            await frames.write(step.reply)
          }
          if (step.end) {
            break
          }
        }
        const frame = encodeTransfer({ pubsubTopic: PUBSUB_TOPIC, message: message! })
        const transfer = lpStream(await b.open(a, TRANSFER_PROTOCOL))
        await transfer.write(reversed ? reverseFields(frame) : frame)
      })
      expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'reconciled', received: 1 })
      expect(await ours.archive.has([message!.messageHash])).to.deep.equal([true])
    })
  }

  it('answers the model of the reference node, and is pushed and pushes the differences', async () => {
    const [a, b] = pair()
    const messages = makeMessages(400)
    const [mine, theirs] = [messages.slice(0, 390), messages.slice(10)]
    const ours = await startSync(a, mine, { serve: true })
    a.agentVersion = 'waku-light'
    b.agentVersion = 'nwaku-v0.38.1'
    const pushed: string[] = []
    const isPushed = Promise.withResolvers<void>()
    b.script(TRANSFER_PROTOCOL, async (frames) => {
      for (;;) {
        if (pushed.push(toHex((await frames.read()).subarray())) === 10) {
          isPushed.resolve()
        }
      }
    })
    const reference = new ReferenceNode(theirs.map(toEntryOf), [PUBSUB_TOPIC])
    const ended = Promise.withResolvers<SyncProgress['detail']>()
    ours.sync.onEvent(({ type, detail }) => type === 'sync:end' && ended.resolve(detail))
    const frames = lpStream(await b.open(a, RECONCILIATION_PROTOCOL))
    await frames.write(reference.open(NOW - 3_600_000_000_000n, NOW - 20_000_000_000n))
    const toSend: string[] = []
    for (;;) {
      const step = reference.process((await frames.read()).subarray())
      toSend.push(...step.toSend.map(({ hash }) => toHex(hash)))
      if (step.reply !== undefined) {
        await frames.write(step.reply)
      }
      if (step.end) {
        break
      }
    }
    const transfer = lpStream(await b.open(a, TRANSFER_PROTOCOL))
    for (const message of theirs.filter(({ messageHash }) => toSend.includes(toHex(messageHash)))) {
      await transfer.write(encodeTransfer({ pubsubTopic: PUBSUB_TOPIC, message }))
    }
    expect(await ended.promise).to.deep.include({
      role: 'responder',
      outcome: 'reconciled',
      received: 10,
      sent: 10
    })
    await isPushed.promise
    expect(new Set(pushed).size).to.equal(10)
  })

  it('tries the older layout once with a peer that closes without an answer', async () => {
    const [a, b] = pair()
    const ours = await startSync(a, [], { pubsubTopics: ['/waku/2/rs/16/0'] })
    const layouts: string[] = []
    b.script(RECONCILIATION_PROTOCOL, async (frames) => {
      const payload = decodeSyncPayload((await frames.read()).subarray())
      layouts.push(typeof payload === 'string' ? payload : payload.scope.layout)
      if (layouts.at(-1) === 'shards') {
        await frames.write(encodeSyncPayload('no-ranges'))
      }
    })
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'in-sync' })
    expect(layouts).to.deep.equal(['topics', 'shards'])
  })

  it('serves nothing that it was not asked to serve', async () => {
    const [a, b] = pair()
    await startSync(a, [])
    expect([...a.handlers.keys()]).to.deep.equal([TRANSFER_PROTOCOL])
    const { sync } = await startSync(b, [], { serve: true })
    expect([...b.handlers.keys()]).to.have.members([
      TRANSFER_PROTOCOL,
      RECONCILIATION_PROTOCOL,
      STORE_QUERY_3_PROTOCOL
    ])
    await sync.close()
    await sync.close()
    expect([...b.handlers.keys()]).to.be.empty
    expect(b.listenerCount).to.equal(0)
  })

  it('rejects with ERR_CLOSED after close, and ends what is under way', async () => {
    const [a, b] = pair()
    b.script(RECONCILIATION_PROTOCOL, () => new Promise(() => undefined))
    const { sync } = await startSync(a, [])
    const call = sync.syncNow().catch((error: unknown) => error)
    await sync.close()
    expect(await call).to.have.property('code', 'ERR_CLOSED')
    expect(await sync.syncNow().catch((error: unknown) => error)).to.have.property(
      'code',
      'ERR_CLOSED'
    )
  })

  it("rejects with the signal's own reason", async () => {
    const [a, b] = pair()
    const controller = new AbortController()
    const reason = new Error('enough')
    b.script(RECONCILIATION_PROTOCOL, async (frames) => {
      await frames.read()
      controller.abort(reason)
      await new Promise(() => undefined)
    })
    const { sync } = await startSync(a, [])
    const call = sync.syncNow({ signal: controller.signal }).catch((error: unknown) => error)
    expect(await call).to.equal(reason)
  })

  it('resets a transfer that nobody reads when it is aborted', async () => {
    const [a, b] = pair()
    const controller = new AbortController()
    const reason = new Error('enough')
    const { sync } = await startSync(a, makeMessages(50, { payload: new Uint8Array(100_000) }))
    await startSync(b, [], { serve: true })
    const ended = Promise.withResolvers<string>()
    b.handlers.set(TRANSFER_PROTOCOL, (stream) => {
      stream.addEventListener('close', () => ended.resolve(stream.status))
      stream.pause()
      controller.abort(reason)
    })
    const call = sync.syncNow({ signal: controller.signal }).catch((error: unknown) => error)
    expect(await call).to.equal(reason)
    expect(await ended.promise).to.equal('reset')
  })

  it('refuses windows that make no sense before anything is sent', async () => {
    const [a, b] = pair()
    const { sync } = await startSync(a, [])
    for (const options of [
      { from: new Date(NOW_MS), to: new Date(NOW_MS) },
      { from: -5n },
      { from: 'yesterday' as never }
    ]) {
      const error = await sync.syncNow(options).catch((caught: unknown) => caught)
      expect(error).to.have.property('code', 'ERR_INVALID_ARGUMENT')
    }
    expect(a.opened.concat(b.opened)).to.be.empty
  })

  it('has in its index what is put into the archive by others', async () => {
    const { sync, archive } = await startSync(new MemoryNode('ours'), makeMessages(3))
    await archive.putMany(makeMessages(4))
    await archive.putMany(makeMessages(5, {}, 50_000))
    expect(sync.indexSize).to.equal(7)
  })

  it('lets go of the archive when it is closed', async () => {
    const [a] = pair()
    const { sync, archive } = await startSync(a, makeMessages(2))
    await sync.close()
    await archive.putMany(makeMessages(3))
    expect(sync.indexSize).to.equal(2)
  })

  it('keeps the newest where the index is full', async () => {
    const { sync, archive } = await startSync(new MemoryNode('ours'), makeMessages(200), {
      maxEntries: 100
    })
    expect(sync.indexSize).to.be.within(80, 100)
    await archive.putMany(makeMessages(60, {}, 0))
    expect(sync.indexSize).to.be.within(80, 100)
  })

  it('makes an index of its own for what the kept one does not cover', async () => {
    const [a, b] = pair()
    const old = makeMessages(20, {}, 15_000)
    const ours = await startSync(a, old.slice(0, 10))
    await startSync(b, old, { serve: true })
    expect(await ours.sync.syncNow()).to.deep.include({ outcome: 'in-sync' })
    const from = new Date(NOW_MS - 18_000_000)
    expect(await ours.sync.syncNow({ from })).to.deep.include({
      outcome: 'reconciled',
      received: 10
    })
  })
})

function toEntryOf({
  timestamp = 0n,
  messageHash: hash,
  pubsubTopic,
  contentTopic
}: {
  timestamp?: bigint
  messageHash: Uint8Array
  pubsubTopic: string
  contentTopic: string
}) {
  return { timestamp, hash, pubsubTopic, contentTopic }
}

/** Message first, topic second, as the specification has it. */
function reverseFields(frame: Uint8Array): Uint8Array {
  const end = 2 + frame[1]!
  const message = frame.slice(end)
  const topic = frame.slice(0, end)
  message[0] = 0x0a
  topic[0] = 0x12
  return Uint8Array.of(...message, ...topic)
}
