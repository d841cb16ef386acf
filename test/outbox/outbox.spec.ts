import { expect } from 'chai'
import { isWakuLightError } from 'waku-light/errors'
import { toHex, type WakuMessage } from 'waku-light/message'
import {
  isFinished,
  type Outbox,
  type OutboxEntry,
  type OutboxLightPush,
  type OutboxLocks
} from 'waku-light/outbox'
import { delay } from '../../src/lib/deadline.ts'
import { failure, failureOf } from '../helpers/collect.ts'
import { breakable, flush, START, statesOf, Tab, TOPICS, text, World } from './world.ts'

type Result = Awaited<ReturnType<OutboxLightPush['push']>>

describe('createOutbox', () => {
  let world: World
  let open: Outbox[]

  beforeEach(() => {
    world = new World()
    open = []
  })

  afterEach(async () => {
    await Promise.all(open.map((outbox) => outbox.close()))
    await flush()
    expect(world.clock.timers.size, 'timers').to.equal(0)
    expect(world.isLocked, 'lock').to.equal(false)
    expect(world.openChannels, 'channels').to.equal(0)
  })

  async function create(...args: Parameters<World['open']>): Promise<Outbox> {
    const outbox = await world.open(...args)
    open.push(outbox)
    return outbox
  }

  function entryOf(outbox: Outbox, id: string): OutboxEntry {
    const entry = outbox.get(id)
    expect(entry, id).to.not.equal(undefined)
    return entry as OutboxEntry
  }

  describe('enqueue', () => {
    it('resolves with a durable entry, and the entry ends as published', async () => {
      const outbox = await create()
      const states = statesOf(outbox)
      const entry = await outbox.enqueue(text('one'))
      expect(entry).to.include({ state: 'queued', contentTopic: TOPICS[0], attempts: 0 })
      expect(await world.storage.entry(entry.id)).to.deep.equal(entry)
      await world.clock.pass(1_000)
      const end = entryOf(outbox, entry.id)
      expect(end).to.include({ state: 'published', attempts: 1 })
      expect(toHex(end.sent[0]?.messageHash as Uint8Array)).to.equal(world.departures[0]?.hash)
      expect(states.get(entry.id)).to.deep.equal(['queued', 'sending', 'published'])
      expect(await outbox.message(entry.id)).to.equal(undefined)
    })

    it('sets the timestamp when it is sent, not before', async () => {
      world.pushes = ['not-sent', 'not-sent', 'rate-limited']
      const outbox = await create()
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(60_000)
      const { sent, attempts } = entryOf(outbox, id)
      expect(attempts).to.equal(4)
      expect(sent).to.have.length(1)
      expect(Number((sent[0]?.timestamp ?? 0n) / 1_000_000n)).to.be.greaterThan(START + 2_000)
    })

    it('is the same entry for the same id, and refuses another message under it', async () => {
      const outbox = await create()
      const [one, two] = await Promise.all([
        outbox.enqueue(text('one'), { id: 'a' }),
        outbox.enqueue(text('one'), { id: 'a' })
      ])
      expect(two).to.deep.equal(one)
      await world.clock.pass(1_000)
      expect((await outbox.enqueue(text('one'), { id: 'a' })).state).to.equal('published')
      await failureOf('ERR_INVALID_ARGUMENT', () => outbox.enqueue(text('two'), { id: 'a' }))
      expect(world.departures).to.have.length(1)
    })

    it('sends the same content twice as two messages where there is no id, also at one time', async () => {
      world.pushMs = 0
      const outbox = await create()
      await Promise.all(TOPICS.map((topic) => outbox.enqueue(text('ok', topic))))
      await Promise.all(TOPICS.map((topic) => outbox.enqueue(text('ok', topic))))
      await world.clock.pass(1_000)
      expect(new Set(world.departures.map(({ hash }) => hash)).size).to.equal(6)
    })

    it('takes a copy', async () => {
      const outbox = await create()
      const message = text('one')
      const adding = outbox.enqueue(message)
      message.payload.fill(0)
      await adding
      await world.clock.pass(1_000)
      expect(world.departures.map((departure) => departure.text)).to.deep.equal(['one'])
    })

    it('rejects what cannot be sent, before anything is stored', async () => {
      const outbox = await create()
      const message = text('one')
      const wrong: [string, unknown, object?][] = [
        ['message', null],
        ['message.timestamp', { ...message, timestamp: 1n }],
        ['message.payload', { ...message, payload: 'text' }],
        ['message.contentTopic', { ...message, contentTopic: 'nonsense' }],
        ['id', message, { id: '' }],
        ['pubsubTopic', message, { pubsubTopic: '' }],
        ['confirm', message, { confirm: 'seen' }],
        ['confirm', { ...message, ephemeral: true }, { confirm: 'stored' }]
      ]
      for (const [parameter, given, options] of wrong) {
        const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
          outbox.enqueue(given as typeof message, options)
        )
        expect(error.parameter).to.equal(parameter)
      }
      await failureOf('ERR_MESSAGE_TOO_LARGE', () =>
        outbox.enqueue({ ...message, payload: new Uint8Array(200_000) })
      )
      expect(await world.storage.entries()).to.deep.equal([])
    })

    it('is bounded in entries and bytes, those on their way into the storage included', async () => {
      world.pushes = Array.from({ length: 100 }, () => 'not-sent')
      const outbox = await create(new Tab(), { maxEntries: 2 })
      const results = await Promise.allSettled(['1', '2', '3'].map((t) => outbox.enqueue(text(t))))
      expect(results.map(({ status }) => status)).to.deep.equal([
        'fulfilled',
        'fulfilled',
        'rejected'
      ])
      expect(await failureOf('ERR_LIMIT_EXCEEDED', () => outbox.enqueue(text('4')))).to.include({
        limit: 2
      })
      await outbox.close()
      const small = await create(new Tab(), { maxBytes: 200 })
      await failureOf('ERR_LIMIT_EXCEEDED', () =>
        small.enqueue({ ...text('5'), payload: new Uint8Array(150) })
      )
    })

    it('counts an entry once where a listener enqueues the next one', async () => {
      const outbox = await create(new Tab(), { maxEntries: 2 })
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const end = outbox.onChange(() => {
        end()
        outbox.enqueue(text('two')).then(resolve, reject)
      })
      await outbox.enqueue(text('one'))
      await promise
    })

    it('rejects with the storage error, and with the reason of a signal', async () => {
      const { storage, broken } = breakable(world.storage)
      const outbox = await create(new Tab(), { storage })
      broken.add = true
      await failureOf('ERR_STORAGE', () => outbox.enqueue(text('one')))
      const reason = new Error('enough')
      const signal = AbortSignal.abort(reason)
      expect(await failure(() => outbox.enqueue(text('one'), { signal }))).to.equal(reason)
    })
  })

  describe('order', () => {
    it('is kept within a content topic, and topics do not wait for each other', async () => {
      world.pushes = ['not-sent', 'accepted']
      const outbox = await create()
      for (const [content, topic] of [
        ['a1', TOPICS[0]],
        ['b1', TOPICS[1]],
        ['a2', TOPICS[0]],
        ['b2', TOPICS[1]]
      ] as const) {
        await outbox.enqueue(text(content, topic))
      }
      await world.clock.pass(5_000)
      expect(world.departures.map((departure) => departure.text)).to.deep.equal([
        'b1',
        'b2',
        'a1',
        'a2'
      ])
    })

    it('keeps no more pushes under way than it may', async () => {
      const outbox = await create(new Tab(), { maxConcurrent: 2 })
      for (let index = 0; index < 20; index++) {
        await outbox.enqueue(text(`${index}`, `/app/1/${index}/proto`))
      }
      await world.clock.pass(5_000)
      expect(world.departures).to.have.length(20)
      expect(world.mostUnderWay).to.equal(2)
    })

    it('moves on behind a message that every node refuses', async () => {
      world.pushes = ['refused']
      const outbox = await create()
      const bad = await outbox.enqueue(text('bad'))
      const good = await outbox.enqueue(text('good'))
      await world.clock.pass(1_000)
      expect(outbox.get(bad.id)).to.include({
        state: 'rejected',
        reason: 'refused',
        statusCode: 420,
        detail: 'validator failed'
      })
      expect(outbox.get(bad.id)?.sent).to.deep.equal([])
      expect(outbox.get(good.id)).to.include({ state: 'published' })
      expect(await outbox.message(bad.id)).to.deep.equal(text('bad'))
    })
  })

  describe('unknown', () => {
    it('is looked up first, and not sent again where a store node has it', async () => {
      world.pushes = ['answer-lost']
      const outbox = await create()
      const states = statesOf(outbox)
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(60_000)
      expect(states.get(id)).to.deep.equal(['queued', 'sending', 'unknown', 'stored'])
      expect(world.pushCount).to.equal(1)
    })

    it('is sent again with identical bytes while it is fresh', async () => {
      world.pushes = ['request-lost', 'answer-lost', 'accepted']
      world.lookups = ['missed', 'missed']
      let proofs = 0
      const outbox = await create(new Tab(), { proof: () => Uint8Array.of(++proofs) })
      const { id } = await outbox.enqueue({ ...text('one'), meta: Uint8Array.of(7), version: 1 })
      await world.clock.pass(60_000)
      expect(entryOf(outbox, id)).to.include({ state: 'published', attempts: 3 })
      expect(new Set(world.departures.map(({ bytes }) => bytes)).size).to.equal(1)
      expect(world.departures).to.have.length(2)
      expect(proofs).to.equal(1)
    })

    it('expires once it is old and a store node says no three times, past the 20 s', async () => {
      world.pushes = Array.from({ length: 50 }, () => 'request-lost')
      const outbox = await create()
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(22_000)
      expect(entryOf(outbox, id).state).to.equal('unknown')
      expect(world.pushCount).to.be.lessThan(8)
      await world.clock.pass(20_000)
      expect(entryOf(outbox, id)).to.include({ state: 'expired', reason: 'absent' })
      expect(entryOf(outbox, id).sent).to.have.length(1)
      expect(await outbox.message(id)).to.deep.equal(text('one'))
    })

    it('is sent anew with restamp, and lists both hashes', async () => {
      world.pushes = Array.from({ length: 5 }, () => 'request-lost')
      const outbox = await create(new Tab(), { restamp: true })
      const { id } = await outbox.enqueue(text('one'))
      const next = await outbox.enqueue(text('two'))
      await world.clock.pass(120_000)
      const { state, sent } = entryOf(outbox, id)
      expect(state).to.equal('published')
      expect(sent).to.have.length(2)
      expect(world.departures.map((departure) => departure.text)).to.deep.equal(['one', 'two'])
      expect(entryOf(outbox, next.id).state).to.equal('published')
    })

    it('lets the next one go as soon as it will not be sent again', async () => {
      world.pushes = Array.from({ length: 4 }, () => 'request-lost')
      world.lookups = ['answered', 'answered', 'answered', ...failed(40)]
      const outbox = await create()
      const { id } = await outbox.enqueue(text('one'))
      const next = await outbox.enqueue(text('two'))
      await world.clock.pass(40_000)
      expect(entryOf(outbox, id).state).to.equal('unknown')
      expect(entryOf(outbox, next.id).state).to.equal('published')
    })

    it('waits for a store node that does not answer, until it is too old', async () => {
      world.pushes = ['answer-lost']
      world.lookups = failed(10_000)
      const outbox = await create(new Tab(), { maxAgeMs: 600_000 })
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(590_000)
      expect(entryOf(outbox, id).state).to.equal('unknown')
      await world.clock.pass(90_000)
      expect(entryOf(outbox, id)).to.include({ state: 'expired', reason: 'too-old' })
      expect(world.pushCount).to.equal(1)
    })

    it('expires as unconfirmed where there is no store client, never as another message', async () => {
      world.pushes = Array.from({ length: 50 }, () => 'answer-lost')
      const { lightPush } = world.components()
      const outbox = await create(new Tab(), {}, { lightPush })
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(60_000)
      expect(entryOf(outbox, id)).to.include({ state: 'expired', reason: 'unconfirmed' })
      expect(new Set(world.departures.map(({ bytes }) => bytes)).size).to.equal(1)
    })
  })

  describe("confirm: 'stored'", () => {
    it('ends once a store node has it, however often that says no at first', async () => {
      world.lookups = ['missed', 'failed', 'missed', 'missed']
      const outbox = await create(new Tab(), { confirm: 'stored' })
      const states = statesOf(outbox)
      const { id } = await outbox.enqueue(text('one'))
      const next = await outbox.enqueue(text('two'))
      await world.clock.pass(60_000)
      expect(states.get(id)).to.deep.equal(['queued', 'sending', 'published', 'stored'])
      expect(entryOf(outbox, next.id).state).to.equal('stored')
      expect(world.pushCount).to.equal(2)
    })

    it('expires if it is published and never stored', async () => {
      const outbox = await create(new Tab(), { confirm: 'stored' })
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(500)
      expect(entryOf(outbox, id)).to.include({ state: 'published' })
      expect(isFinished(entryOf(outbox, id))).to.equal(false)
      world.archive.clear()
      await world.clock.pass(60_000)
      expect(entryOf(outbox, id)).to.include({ state: 'expired', reason: 'absent' })
    })

    it('needs a store client, and so does restamp', async () => {
      const { lightPush } = world.components()
      for (const init of [{ confirm: 'stored' }, { restamp: true }] as const) {
        const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
          world.open(new Tab(), init, { lightPush })
        )
        expect(error.parameter).to.equal(Object.keys(init)[0])
      }
    })
  })

  describe('retries', () => {
    it('back off, with jitter and up to a bound', async () => {
      world.pushes = Array.from({ length: 200 }, () => 'not-sent')
      const times: number[] = []
      const components = world.components()
      const { push } = components.lightPush
      world.random = () => (times.length % 2 === 0 ? 0 : 1)
      const outbox = await create(
        new Tab(),
        {},
        {
          ...components,
          lightPush: {
            push: (message, options) => {
              times.push(world.clock.nowMs)
              return push(message, options)
            }
          }
        }
      )
      await outbox.enqueue(text('one'))
      await world.clock.pass(300_000)
      const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0) - world.pushMs)
      expect(pauses.slice(0, 9)).to.deep.equal([
        1_000, 1_000, 4_000, 4_000, 16_000, 16_000, 60_000, 30_000, 60_000
      ])
    })

    it('begin at once after a kick, in another tab as well', async () => {
      world.pushes = Array.from({ length: 12 }, () => 'not-sent')
      const outbox = await create()
      const other = await create()
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(50_000)
      for (let tries = world.pushCount; tries < 13; tries++) {
        const waiting = tries % 2 === 0 ? outbox : other
        waiting.kick()
        await world.clock.pass(100)
      }
      expect(entryOf(outbox, id).state).to.equal('published')
    })

    it('begin at once after a kick that came while one was under way', async () => {
      world.pushes = ['not-sent']
      const outbox = await create()
      const { id } = await outbox.enqueue(text('one'))
      await flush()
      expect(world.pushesUnderWay).to.equal(1)
      outbox.kick()
      await world.clock.pass(150)
      expect(entryOf(outbox, id).state).to.equal('published')
    })

    it('begin at once when the node is ready, until the outbox is closed', async () => {
      const listeners = new Set<(state: { readonly status: string }) => void>()
      const node = {
        onStateChange: (listener: (state: { readonly status: string }) => void) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        }
      }
      const tell = (status: string): void => {
        for (const listener of listeners) {
          listener({ status })
        }
      }
      world.pushes = Array.from({ length: 12 }, () => 'not-sent')
      const outbox = await create(new Tab(), {}, { ...world.components(), node })
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(50_000)
      for (let tries = world.pushCount; tries < 13; tries++) {
        tell('connecting')
        await world.clock.pass(100)
        expect(world.pushCount).to.equal(tries)
        tell('ready')
        await world.clock.pass(100)
      }
      expect(entryOf(outbox, id).state).to.equal('published')
      await outbox.close()
      expect(listeners.size).to.equal(0)
    })

    it('end with the age of an entry', async () => {
      world.pushes = Array.from({ length: 500 }, () => 'not-sent')
      const outbox = await create(new Tab(), { maxAgeMs: 3_600_000 })
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(3_700_000)
      expect(entryOf(outbox, id)).to.include({ state: 'expired', reason: 'too-old' })
      expect(entryOf(outbox, id).sent).to.deep.equal([])
    })

    it('do not begin where the message cannot be written down before it leaves', async () => {
      const { storage, broken } = breakable(world.storage)
      const outbox = await create(new Tab(), { storage })
      broken.put = true
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(30_000)
      expect(world.pushCount).to.be.greaterThan(0)
      expect(world.departures).to.deep.equal([])
      broken.put = false
      await world.clock.pass(120_000)
      expect(entryOf(outbox, id).state).to.equal('published')
      expect(world.departures).to.have.length(1)
    })
  })

  describe('a push that ends before its message is written down', () => {
    it('is waited with for the write, whose hash stays known', async () => {
      const components = {
        ...world.components(),
        lightPush: {
          push: async (message, { proof }) => {
            Promise.resolve(proof?.(message as WakuMessage, '/waku/2/rs/1/0')).catch(() => {})
            return { status: 'unknown', attempts: [] }
          }
        } satisfies OutboxLightPush
      }
      const storage = {
        ...world.storage,
        put: async (...args: Parameters<typeof world.storage.put>) => {
          const written = world.storage.put(...args)
          await world.clock.sleep(10)
          await written
        }
      }
      const outbox = await create(new Tab(), { storage }, components)
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(100)
      expect(entryOf(outbox, id)).to.deep.include({ state: 'unknown', attempts: 1, revision: 2 })
      expect(entryOf(outbox, id).sent).to.have.length(1)
    })

    it('gets no proof any more', async () => {
      let late: () => unknown = () => undefined
      const components = {
        ...world.components(),
        lightPush: {
          push: async (message, { proof }) => {
            late = () => proof?.(message as WakuMessage, '/waku/2/rs/1/0')
            return { status: 'failed', attempts: [] }
          }
        } satisfies OutboxLightPush
      }
      const outbox = await create(new Tab(), {}, components)
      const { id } = await outbox.enqueue(text('one'))
      await flush()
      await failureOf('ERR_STORAGE', late)
      expect(entryOf(outbox, id)).to.deep.include({ state: 'queued', sent: [] })
    })
  })

  describe('another tab', () => {
    it('hands over what it takes in, and sees what becomes of it', async () => {
      const sending = await create()
      const other = await create()
      const states = statesOf(other)
      const { id } = await other.enqueue(text('one'))
      await world.clock.pass(1_000)
      expect(entryOf(other, id).state).to.equal('published')
      expect(entryOf(sending, id).state).to.equal('published')
      expect(states.get(id)?.at(-1)).to.equal('published')
      expect(world.departures).to.have.length(1)
    })

    it('goes on when the one that sends is closed', async () => {
      const sending = await create()
      const other = await create()
      await sending.enqueue(text('one'), { id: 'one' })
      await sending.close()
      await world.clock.pass(60_000)
      await other.enqueue(text('two'), { id: 'two' })
      await world.clock.pass(60_000)
      expect(other.list().map(({ id, state }) => [id, state])).to.deep.equal([
        ['one', 'published'],
        ['two', 'published']
      ])
      expect(new Set(world.departures.map(({ hash }) => hash)).size).to.equal(2)
    })

    it('takes what was on its way at a crash for unknown', async () => {
      const tab = new Tab()
      world.pushMs = 5_000
      const crashed = await world.open(tab)
      const { id } = await crashed.enqueue(text('one'))
      await world.clock.pass(1_000)
      expect(entryOf(crashed, id).state).to.equal('sending')
      tab.crash()
      const outbox = await create()
      const states = statesOf(outbox)
      await world.clock.pass(60_000)
      expect(states.get(id)?.[0]).to.equal('unknown')
      expect(isFinished(entryOf(outbox, id))).to.equal(true)
      expect(new Set(world.departures.map(({ bytes }) => bytes)).size).to.equal(1)
    })
  })

  describe('a lock that is stolen', () => {
    it('while the storage is read, leaves the session that follows alone', async () => {
      const { promise: reading, resolve: readOn } = Promise.withResolvers<void>()
      let reads = 0
      const storage = {
        ...world.storage,
        entries: async () => {
          reads++
          if (reads === 2) {
            await reading // of the first session
          }
          return await world.storage.entries()
        }
      }
      let requests = 0
      const locks: OutboxLocks = {
        request: async (_name, _options, callback) => {
          requests++
          if (requests === 1) {
            callback().catch(() => {})
            throw new Error('stolen')
          }
          await callback()
        }
      }
      const outbox = await create(new Tab(), { storage, locks })
      await world.clock.pass(60_000)
      expect([requests, reads]).to.deep.equal([2, 3])
      readOn()
      await flush()
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(1_000)
      expect(entryOf(outbox, id).state).to.equal('published')
    })
  })

  describe('memory', () => {
    it('forgets the oldest of those that were given up where their content is too large', async () => {
      world.pushes = ['refused', 'refused', 'accepted', 'refused']
      const large = { ...text(''), payload: new Uint8Array(400) }
      const outbox = await create(new Tab(), { maxBytes: 1_000 })
      for (let index = 0; index < 4; index++) {
        await outbox.enqueue(large, { id: `${index}` })
        await world.clock.pass(200)
      }
      expect(outbox.list().map(({ id }) => id)).to.deep.equal(['1', '2', '3'])
      expect(await outbox.message('1')).to.deep.equal(large)
    })

    it('sends what comes under an id that it has forgotten', async () => {
      const outbox = await create(new Tab(), { maxFinished: 1 })
      for (const id of ['one', 'two', 'one']) {
        await outbox.enqueue(text('again'), { id })
        await world.clock.pass(200)
        expect(entryOf(outbox, id).state).to.equal('published')
      }
      expect(world.departures).to.have.length(3)
    })

    it('forgets the oldest of those that are finished', async () => {
      const outbox = await create(new Tab(), { maxFinished: 3 })
      const other = await create()
      for (let index = 0; index < 10; index++) {
        await outbox.enqueue(text(`${index}`), { id: `${index}` })
        await world.clock.pass(200)
      }
      expect(outbox.list().map(({ id }) => id)).to.deep.equal(['7', '8', '9'])
      expect(other.list().map(({ id }) => id)).to.deep.equal(['7', '8', '9'])
      expect(await world.storage.entries()).to.have.length(3)
    })
  })

  describe('close', () => {
    it('ends everything, may be called again, and says so to later calls', async () => {
      world.pushMs = 60_000
      const outbox = await world.open()
      await outbox.enqueue(text('one'))
      await world.clock.pass(1_000)
      const changes: unknown[] = []
      outbox.onChange((change) => changes.push(change))
      await Promise.all([outbox.close(), outbox.close()])
      await outbox.close()
      await failureOf('ERR_CLOSED', () => outbox.enqueue(text('two')))
      await failureOf('ERR_CLOSED', () => outbox.message('x'))
      outbox.kick()
      await world.clock.pass(600_000)
      expect(changes.length).to.be.lessThan(2)
      expect(world.departures).to.deep.equal([])
    })

    it('writes down what came of a push, however often that takes', async () => {
      const { storage, broken } = breakable(world.storage)
      const components = world.components()
      const outbox = await create(
        new Tab(),
        { storage },
        {
          ...components,
          lightPush: {
            push: async (message, options) => {
              const result = await components.lightPush.push(message, options)
              broken.put = true
              return result
            }
          }
        }
      )
      const { id } = await outbox.enqueue(text('one'))
      await world.clock.pass(30_000)
      expect(entryOf(outbox, id).state).to.equal('sending')
      broken.put = false
      await world.clock.pass(60_000)
      expect(entryOf(outbox, id).state).to.equal('published')
      expect(world.pushCount).to.equal(1)
    })

    it('waits until it is written down what came of a push under way', async () => {
      const components = {
        ...world.components(),
        lightPush: {
          push: async (message, { proof, signal }) => {
            await proof?.(message as WakuMessage, '/waku/2/rs/1/0')
            await failure(() => delay(Infinity, signal))
            await flush(20)
            return { status: 'published', attempts: [] }
          }
        } satisfies OutboxLightPush
      }
      const outbox = await world.open(new Tab(), {}, components)
      await outbox.enqueue(text('one'))
      await flush()
      await outbox.close()
      expect((await world.storage.entries()).map(({ state }) => state)).to.deep.equal(['published'])
    })

    it('does not wait for ever for a push that heeds no signal', async () => {
      const { promise, resolve } = Promise.withResolvers<Result>()
      const components = { ...world.components(), lightPush: { push: () => promise } }
      const outbox = await world.open(new Tab(), {}, components)
      await outbox.enqueue(text('one'))
      await flush()
      const closing = outbox.close()
      await world.clock.pass(3_000)
      await closing
      const next = await create()
      await world.clock.pass(1_000)
      expect(next.list().map(({ state }) => state)).to.deep.equal(['published'])
      // what comes of it later is not written over that
      resolve({ status: 'failed', attempts: [] })
      await flush()
      expect(await world.storage.entries()).to.deep.equal(next.list())
    })

    it('settles an enqueue under way', async () => {
      const outbox = await create(new Tab(), {
        storage: { ...world.storage, add: () => new Promise<never>(() => {}) }
      })
      const adding = failure(() => outbox.enqueue(text('one')))
      await outbox.close()
      expect(isWakuLightError(await adding)).to.equal(true)
    })
  })

  it('tells listeners that throw as well as others, and none twice', async () => {
    const outbox = await create()
    const seen: string[] = []
    outbox.onChange(() => {
      throw new Error('mine')
    })
    const end = outbox.onChange(({ entry, previousState }) =>
      seen.push(`${previousState} ${entry.state}`)
    )
    await outbox.enqueue(text('one'))
    await world.clock.pass(1_000)
    end()
    await outbox.enqueue(text('two'))
    await world.clock.pass(1_000)
    expect(seen).to.deep.equal(['undefined queued', 'queued sending', 'sending published'])
  })
})

function failed(length: number): 'failed'[] {
  return Array.from({ length }, () => 'failed')
}
