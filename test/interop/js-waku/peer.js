// js-waku as a foreign client: a light node of @waku/sdk that is driven by JSON lines. README.md has the commands.
import { createInterface } from 'node:readline'
import { createLightNode } from '@waku/sdk'

const [clusterId, shardCount, nodeAddress] = process.argv.slice(2)

const node = await createLightNode({
  networkConfig: { clusterId: Number(clusterId), numShardsInCluster: Number(shardCount) },
  defaultBootstrap: false,
  discovery: { dns: false, peerExchange: false, peerCache: false },
  bootstrapPeers: [nodeAddress],
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
    return { peers: (await node.getConnectedPeers()).map(({ id, protocols }) => ({ id: String(id), protocols })) }
  },

  async lightPush({ message, useLegacy = false }) {
    const { contentTopic, payload, timestampMs, ephemeral = false } = message
    const encoder = node.createEncoder({ contentTopic, ephemeral })
    const { successes, failures } = await node.lightPush.send(
      encoder,
      { payload: fromHex(payload), timestamp: timestampMs === undefined ? undefined : new Date(timestampMs) },
      { useLegacy, autoRetry: false }
    )
    return {
      pubsubTopic: encoder.pubsubTopic,
      successes: successes.map(String),
      failures: failures.map(({ error, peerId }) => ({ error, peerId: peerId && String(peerId) }))
    }
  },

  async storeQuery({ contentTopics, messageHashes, cursor, timeStartMs, timeEndMs, backward, pageLimit, includeData, maxPages = 100 }) {
    const options = withoutUndefined({
      messageHashes: messageHashes?.map(fromHex),
      paginationCursor: cursor && fromHex(cursor),
      timeStart: timeStartMs && new Date(timeStartMs),
      timeEnd: timeEndMs && new Date(timeEndMs),
      paginationForward: !backward,
      paginationLimit: pageLimit,
      includeData
    })
    const decoders = contentTopics.map((contentTopic) => node.createDecoder({ contentTopic }))
    const pages = []
    for await (const promises of node.store.queryGenerator(decoders, options)) {
      pages.push((await Promise.all(promises)).map((message) => message && toJson(message)))
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

function fromHex(text) {
  return Uint8Array.from(Buffer.from(text, 'hex'))
}

function withoutUndefined(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
