// What `npm start` shows: messages go in at one service node and come out of the other, all of them, unchanged, in order.
// Everything that is printed was checked.
import { setTimeout as delay } from 'node:timers/promises'
import { LightPushClient } from 'waku-light/light-push'
import { fromHex, toHex, toPubsubTopic } from 'waku-light/message'
import { createLightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'
import { CheckError, formatMs, shorten, step } from './start-report.js'

const MESSAGE_COUNT = 30
const PAGE_LIMIT = 10
const PROBE_DEADLINE_MS = 15_000
/** So long for a node that keeps the probe to find somebody to relay it to. */
const RELAY_DEADLINE_MS = 6_000
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1_000
const ARRIVAL_DEADLINE_MS = 10_000

/** As the example page has it, so that it shows these messages too. */
const toContentTopic = (room) => `/waku-light-chat/1/${encodeURIComponent(room)}/json`

/**
 * @param {object} init
 * @param {readonly { name: string, address: string }[]} init.ends - where to push and where to read
 * @param {string} init.room
 * @param {boolean} init.isRemote - somebody else's nodes, of which nothing is known
 * @param {AbortSignal} init.signal
 * @returns {Promise<{ notes: string[] }>} what differs from two nodes that can do everything
 * @throws {CheckError} where something is missing or wrong
 */
export async function travel({ ends, room, isRemote, signal }) {
  const [pushEnd, readEnd = pushEnd] = ends
  const notes = []
  const lightNodes = []
  try {
    for (const { address } of [pushEnd, readEnd]) {
      // whoever types an address means it, even in a private network
      lightNodes.push(
        await createLightNode({ serviceNodes: [address], allowPrivateAddresses: true })
      )
    }
    const [pushNode, readNode] = lightNodes
    const context = {
      lightPush: new LightPushClient(pushNode),
      store: new StoreClient(readNode),
      contentTopic: toContentTopic(room),
      pushEnd,
      readEnd,
      notes,
      signal,
      isRemote
    }
    const probeTitle =
      readEnd === pushEnd
        ? `A probe goes into ${pushEnd.name} and is found there`
        : `A probe finds its way from ${pushEnd.name} to ${readEnd.name}`
    const network = await step('Two light clients learn the network', (detail) =>
      learnNetwork({ pushNode, readNode, pushEnd, readEnd, signal, detail })
    )
    const pubsubTopic = toPubsubTopic(context.contentTopic, network)
    const probe = await step(probeTitle, (detail) => sendProbe({ ...context, pubsubTopic, detail }))
    const sent = await step(`${MESSAGE_COUNT} messages pushed at ${pushEnd.name}`, (detail) =>
      pushAll({ ...context, isRelayed: probe.isRelayed, detail })
    )
    const criteria = { contentTopics: [context.contentTopic], timeStart: sent[0].timestamp }
    await step(`All of them have arrived at ${readEnd.name}`, (detail) =>
      awaitArrival({ ...context, criteria, sent, detail })
    )
    for (const direction of ['forward', 'backward']) {
      await step(`Read at ${readEnd.name} in pages of ${PAGE_LIMIT}, ${direction}`, (detail) =>
        readAll({ ...context, criteria, sent, direction, detail })
      )
    }
    await step('Presence of each, and of one that was never sent', (detail) =>
      checkPresence({ ...context, criteria, sent, detail })
    )
    return { notes }
  } finally {
    await Promise.all(lightNodes.map((node) => node.close()))
  }
}

async function learnNetwork({ pushNode, readNode, pushEnd, readEnd, signal, detail }) {
  const networks = []
  for (const [node, end] of [
    [pushNode, pushEnd],
    [readNode, readEnd]
  ]) {
    try {
      networks.push(await node.network({ signal }))
    } catch (error) {
      signal.throwIfAborted()
      throw new CheckError(`${end.address} cannot be used: ${error.message}`, { cause: error })
    }
  }
  const [network, other] = networks.map((one) => ({ ...one, text: describeNetwork(one) }))
  if (network.text !== other.text) {
    throw new CheckError(`The nodes are not of one network: ${network.text} and ${other.text}.`)
  }
  detail(`network: ${network.text}`)
  return networks[0]
}

function describeNetwork(network) {
  return 'shardCount' in network
    ? `cluster ${network.clusterId}, ${network.shardCount} shard${network.shardCount === 1 ? '' : 's'}`
    : `cluster ${network.clusterId}, static topics ${network.pubsubTopics.join(' ')}`
}

/** Relay needs a moment to form: the same message is pushed again until it has come out at the other end. */
async function sendProbe({
  lightPush,
  store,
  pubsubTopic,
  pushEnd,
  readEnd,
  notes,
  isRemote,
  signal,
  detail
}) {
  // of the same application and version, so of the same shard
  const contentTopic = toContentTopic('probe')
  const timestamp = BigInt(Date.now()) * 1_000_000n
  const payload = new TextEncoder().encode(
    JSON.stringify({ nick: 'npm start', text: `probe ${crypto.randomUUID()}` })
  )
  const within = { contentTopics: [contentTopic], timeStart: timestamp }
  const started = performance.now()
  let pauseMs = FIRST_PAUSE_MS
  let pushes = 0
  let found = false
  let result
  while (performance.now() - started < (found ? RELAY_DEADLINE_MS : PROBE_DEADLINE_MS)) {
    if (result?.status !== 'published') {
      result = await lightPush.push({ contentTopic, payload, timestamp }, { signal })
      pushes++
      assertNotRefused(result, pushEnd)
    }
    if (result.messageHash !== undefined) {
      ;[found] = await ask(readEnd, signal, () =>
        store.has([result.messageHash], { signal, within })
      )
    }
    if (found && result.status === 'published') break
    await delay(pauseMs, undefined, { signal })
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)
  }
  detail(`pubsub topic ${pubsubTopic}`)
  detail(
    `${pushes} push${pushes === 1 ? '' : 'es'} of the same bytes, the last one: ${describePush(result)}` +
      `; ${found ? 'found' : 'not found'} at ${readEnd.name}`
  )
  if (!found) {
    throw new CheckError(
      `After ${PROBE_DEADLINE_MS / 1000} s the probe is not in the archive of ${readEnd.name} (push: ${describePush(result)}).` +
        (isRemote
          ? ' Does it keep an archive (store), and is it joined by relay with where the probe was pushed?'
          : '')
    )
  }
  const isRelayed = result.status === 'published'
  if (!isRelayed) {
    notes.push(
      `${pushEnd.name} cannot relay (${describePush(result)}): it keeps what it is given, but passes it on to nobody. ` +
        'Join it to a peer, or run it standalone if it is meant to be alone.'
    )
  }
  return { isRelayed }
}

async function pushAll({ lightPush, contentTopic, pushEnd, notes, isRelayed, signal, detail }) {
  const sent = []
  const results = []
  const durations = []
  let timestamp = 0n
  for (let number = 1; number <= MESSAGE_COUNT; number++) {
    const now = BigInt(Date.now()) * 1_000_000n
    // strictly later each time: messages of one instant have no order that we could check
    timestamp = now > timestamp ? now : timestamp + 1n
    const text = JSON.stringify({
      nick: 'npm start',
      text: `Message ${number} of ${MESSAGE_COUNT}`
    })
    const payload = new TextEncoder().encode(text)
    const started = performance.now()
    const result = await lightPush.push({ contentTopic, payload, timestamp }, { signal })
    durations.push(performance.now() - started)
    assertNotRefused(result, pushEnd)
    if (isRelayed && result.status !== 'published') {
      throw new CheckError(`Message ${number} was not published: ${describePush(result)}.`)
    }
    results.push(result)
    sent.push({ number, hash: toHex(result.messageHash), payload: toHex(payload), timestamp })
  }
  const sorted = durations.toSorted((a, b) => a - b)
  const total = durations.reduce((sum, one) => sum + one, 0)
  detail(`status: ${tally(results.map(({ status }) => status))}`)
  detail(`relay peers: ${tally(results.map(({ relayPeerCount }) => relayPeerCount ?? 'not told'))}`)
  detail(`protocol: ${tally(results.map(({ attempts }) => attempts.at(-1).protocol))}`)
  detail(
    `per push: median ${formatMs(sorted[sorted.length >> 1])}, slowest ${formatMs(sorted.at(-1))}, ` +
      `${Math.round((MESSAGE_COUNT / total) * 1000)} a second one after the other`
  )
  detail(`hashes: ${shorten(sent[0].hash)} to ${shorten(sent.at(-1).hash)}`)
  if (isRelayed && results.some(({ relayPeerCount }) => relayPeerCount === undefined)) {
    notes.push(`${pushEnd.name} does not say to how many peers it relays.`)
  }
  return sent
}

/** Relay is quick, but not immediate. */
async function awaitArrival({ store, readEnd, criteria, sent, signal, detail }) {
  const hashes = sent.map(({ hash }) => fromHex(hash))
  const deadline = performance.now() + ARRIVAL_DEADLINE_MS
  for (let questions = 1; ; questions++) {
    const present = await ask(readEnd, signal, () =>
      store.has(hashes, { signal, within: criteria })
    )
    const missing = sent.filter((_, index) => !present[index])
    if (missing.length === 0) {
      detail(
        `${sent.length} of ${sent.length}, asked ${questions === 1 ? 'once' : `${questions} times`}`
      )
      return
    }
    if (performance.now() > deadline) {
      throw new CheckError(
        `${missing.length} of ${sent.length} messages did not arrive at ${readEnd.name} within ` +
          `${ARRIVAL_DEADLINE_MS / 1000} s: numbers ${missing.map(({ number }) => number).join(', ')}.`
      )
    }
    await delay(FIRST_PAUSE_MS, undefined, { signal })
  }
}

async function readAll({ store, readEnd, criteria, sent, direction, notes, signal, detail }) {
  const numbers = new Map(sent.map(({ hash, number }) => [hash, number]))
  const walked = []
  let completeness
  let pageNumber = 0
  let started = performance.now()
  const pages = store.queryPages(criteria, { direction, pageLimit: PAGE_LIMIT, signal })
  await ask(readEnd, signal, async () => {
    for await (const page of pages) {
      const took = performance.now() - started
      assertPage(page, ++pageNumber, direction)
      // pages hold their messages oldest first, whichever way the walk goes
      walked.push(...(direction === 'forward' ? page.messages : page.messages.toReversed()))
      completeness = page.completeness
      detail(
        `page ${pageNumber}: ${describePage(page, numbers)}, ${completeness}, ${formatMs(took)}`
      )
      if (page.messages.length < PAGE_LIMIT && completeness === 'more') {
        notes.push(
          `${readEnd.name} gives pages of ${page.messages.length}, where ${PAGE_LIMIT} were asked for.`
        )
      }
      if (!page.protocol.endsWith('/3.0.0')) {
        notes.push(`${readEnd.name} speaks ${page.protocol}.`)
      }
      started = performance.now()
    }
  })
  if (completeness === 'unverifiable') {
    notes.push(`${readEnd.name} cannot tell the end of history from an error.`)
  } else if (completeness !== 'complete') {
    throw new CheckError(
      `The walk ${direction} ended although the node has more (${completeness}).`
    )
  }
  assertSame(walked, direction === 'forward' ? sent : sent.toReversed(), direction)
  detail(
    `all ${sent.length}, each once, ${direction === 'forward' ? 'oldest' : 'newest'} first, content and hash unchanged`
  )
}

function describePage({ messages }, numbers) {
  if (messages.length === 0) return 'empty'
  const [first, last] = [messages[0], messages.at(-1)].map(({ messageHash }) => toHex(messageHash))
  return `${messages.length} messages, ${numbers.get(first) ?? '?'} (${shorten(first)}) to ${numbers.get(last) ?? '?'} (${shorten(last)})`
}

function assertPage({ messages, rejected }, pageNumber, direction) {
  if (messages.length > PAGE_LIMIT) {
    throw new CheckError(
      `Page ${pageNumber} ${direction} has ${messages.length} messages, more than ${PAGE_LIMIT}.`
    )
  }
  if (rejected.length > 0) {
    const reasons = tally(rejected.map(({ reason }) => reason))
    throw new CheckError(
      `Page ${pageNumber} ${direction} holds entries that had to be rejected: ${reasons}.`
    )
  }
}

/** The very messages, each once, in this order. */
function assertSame(walked, expected, direction) {
  const hashes = walked.map(({ messageHash }) => toHex(messageHash))
  const missing = expected.filter(({ hash }) => !hashes.includes(hash))
  if (missing.length > 0) {
    throw new CheckError(
      `Read ${direction}, ${missing.length} of ${expected.length} messages are missing: numbers ` +
        `${missing.map(({ number }) => number).join(', ')}.`
    )
  }
  if (hashes.length !== expected.length) {
    throw new CheckError(
      `Read ${direction}, ${hashes.length} messages came where ${expected.length} were sent.`
    )
  }
  const wrong = expected.findIndex(({ hash }, index) => hashes[index] !== hash)
  if (wrong !== -1) {
    throw new CheckError(
      `Read ${direction}, the order is wrong: place ${wrong + 1} should hold message ${expected[wrong].number}.`
    )
  }
  const changed = expected.find(
    ({ payload, timestamp }, index) =>
      toHex(walked[index].payload) !== payload || walked[index].timestamp !== timestamp
  )
  if (changed !== undefined) {
    throw new CheckError(`Read ${direction}, message ${changed.number} is not what was sent.`)
  }
}

async function checkPresence({ store, readEnd, criteria, sent, signal, detail }) {
  const neverSent = crypto.getRandomValues(new Uint8Array(32))
  const hashes = [...sent.map(({ hash }) => fromHex(hash)), neverSent]
  const answers = await ask(readEnd, signal, () => store.has(hashes, { signal, within: criteria }))
  const absent = sent.filter((_, index) => !answers[index])
  if (absent.length > 0 || answers.length !== hashes.length) {
    throw new CheckError(
      `${readEnd.name} denies having messages ${absent.map(({ number }) => number).join(', ')}.`
    )
  }
  if (answers.at(-1)) {
    throw new CheckError(`${readEnd.name} claims to have a message that was never sent.`)
  }
  detail(`${sent.length} present, ${shorten(toHex(neverSent))} absent, as it should be`)
}

/** A question to the archive; what goes wrong says whom it was asked of. */
async function ask(end, signal, question) {
  try {
    return await question()
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof CheckError
      ? error
      : new CheckError(`The archive of ${end.name} cannot be read: ${error.message}`, {
          cause: error
        })
  }
}

/** A push may have to be repeated, but a node that refuses will not change its mind. */
function assertNotRefused(result, end) {
  const refused = result.attempts.find(({ reason }) => reason === 'refused')
  if (result.status === 'failed' && refused !== undefined) {
    throw new CheckError(`${end.name} refuses to publish: ${describePush(result)}.`)
  }
  if (result.messageHash === undefined) {
    throw new CheckError(`${end.name} cannot be used for pushing: ${describePush(result)}.`)
  }
}

function describePush({ status, attempts, error }) {
  const { reason, statusCode, statusDesc, relayPeerCount, error: failure } = attempts.at(-1) ?? {}
  const parts = [
    reason === 'accepted' ? undefined : reason,
    statusCode,
    statusDesc,
    relayPeerCount === undefined
      ? undefined
      : `${relayPeerCount} relay peer${relayPeerCount === 1 ? '' : 's'}`,
    (failure ?? error)?.message
  ].filter((part) => part !== undefined && part !== '')
  return parts.length === 0 ? status : `${status}: ${parts.join(', ')}`
}

/** `30 × published` */
function tally(values) {
  const counts = new Map()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => `${count} × ${value}`).join(', ')
}
