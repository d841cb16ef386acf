// js-waku as a foreign client: a light node of @waku/sdk that is driven by JSON lines. README.md has the commands.
import { createInterface } from 'node:readline'
import { createLightNode } from '@waku/sdk'

// without a shard count: static sharding
const [address, clusterId, shardCount] = process.argv.slice(2)

const node = await createLightNode({
  networkConfig: {
    clusterId: Number(clusterId),
    ...(shardCount === undefined ? undefined : { numShardsInCluster: Number(shardCount) })
  },
  defaultBootstrap: false,
  discovery: { dns: false, peerExchange: false, peerCache: false },
  bootstrapPeers: [address],
  lightPush: { autoRetry: false },
  libp2p: {
    // by default wss to public addresses only
    filterMultiaddrs: false,
    hideWebSocketInfo: true,
    connectionGater: { denyDialMultiaddr: () => false }
  }
})

const commands = {
  async waitForPeers({ timeoutMs }) {
    await node.waitForPeers(['lightpush', 'store'], timeoutMs)
    return { peers: (await node.getConnectedPeers()).map(({ id }) => String(id)) }
  },

  async lightPush({ contentTopic, shardId, payload, timestampMs, ephemeral = false, useLegacy }) {
    const encoder = node.createEncoder({ contentTopic, shardId, ephemeral })
    const message = { payload: fromHex(payload), timestamp: toDate(timestampMs) }
    const { successes, failures } = await node.lightPush.send(encoder, message, { useLegacy })
    return {
      pubsubTopic: encoder.pubsubTopic,
      successes: successes.map(String),
      failures: failures.map(({ error }) => error)
    }
  },

  async storeQuery({ contentTopics, shardId, maxPages = 100, ...args }) {
    const { messageHashes, cursor, timeStartMs, timeEndMs, backward, pageLimit, includeData } = args
    const decoders = contentTopics.map((contentTopic) =>
      node.createDecoder({ contentTopic, shardId })
    )
    const options = withoutUndefined({
      messageHashes: messageHashes?.map(fromHex),
      paginationCursor: cursor && fromHex(cursor),
      timeStart: toDate(timeStartMs),
      timeEnd: toDate(timeEndMs),
      paginationForward: backward === undefined ? undefined : !backward,
      paginationLimit: pageLimit,
      includeData
    })
    const pages = []
    for await (const promises of node.store.queryGenerator(decoders, options)) {
      const messages = await Promise.all(promises)
      pages.push(messages.map((message) => message && toJson(message)))
      if (pages.length === maxPages) break
    }
    return { pages }
  },

  async stop() {
    await node.stop()
    return {}
  }
}

write({ peerId: String(node.peerId) })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, cmd, ...args } = JSON.parse(line)
  try {
    write({ id, result: await commands[cmd](args) })
  } catch (error) {
    write({ id, error: error instanceof Error ? error.message : String(error) })
  }
  if (cmd === 'stop') break
}
process.exit()

function write(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

function toJson({ hashStr, pubsubTopic, contentTopic, payload, timestamp, version, ephemeral }) {
  return {
    hash: hashStr,
    pubsubTopic,
    contentTopic,
    payload: Buffer.from(payload).toString('hex'),
    timestampMs: timestamp?.getTime(),
    version,
    ephemeral
  }
}

function toDate(ms) {
  return ms === undefined ? undefined : new Date(ms)
}

function fromHex(text) {
  return Uint8Array.from(Buffer.from(text, 'hex'))
}

function withoutUndefined(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
