// One client under measurement, in a process of its own: `node throughput-client.js CLIENT MULTIADDR CLUSTER SHARDS COUNT`.
// Prints one line of JSON. Both clients do the same job at the same node, twice before it counts, so that their code and the
// node's are compiled as far as they will be; ours also recomputes every hash. History is paged as each does by default, and
// then as each does it best: with eight walks side by side, and with pages of 100 for 20.
const [client, address, clusterId, shardCount, count] = process.argv.slice(2)
const COUNT = Number(count)
const SEQUENTIAL = COUNT / 5
const PAYLOAD_BYTES = 300
const CONTENT_TOPIC = `/bench/1/${client.replace(/\W/g, '')}/bytes`

let failedPushes
const { push, page, close } = await (client === 'waku-light' ? wakuLight() : wakuSdk())
for (let round = 0; round < 2; round++) await job()
console.log(JSON.stringify(await job()))
await close()
process.exit()

async function job() {
  failedPushes = undefined
  const pushes = await rate(SEQUENTIAL, async () => {
    for (let index = 0; index < SEQUENTIAL; index++) await push()
  })
  const cpu = process.cpuUsage()
  const pushesAt32 = await rate(COUNT, () => pushAll(COUNT))
  const pushCpuUs = cpuUs(cpu) / COUNT
  globalThis.gc?.()
  const idle = process.memoryUsage.rss()
  let peak = idle
  const onPage = () => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  const paging = async (way) => {
    const before = process.cpuUsage()
    let paged = 0
    const perSecond = await rate(1, async () => {
      paged = await page(way, onPage)
    })
    if (paged < COUNT) throw new Error(`${paged} messages of ${COUNT} came back`)
    return [perSecond * paged, cpuUs(before) / paged]
  }
  const [messages, messageCpuUs] = await paging('default')
  const [messagesAtBest, messageCpuAtBestUs] = await paging('best')
  const pushed = { pushes, pushesAt32, pushCpuUs, failedPushes }
  const peakMiB = (peak - idle) / 2 ** 20
  return { ...pushed, messages, messageCpuUs, messagesAtBest, messageCpuAtBestUs, peakMiB }
}

/** Thirty-two at a time. */
async function pushAll(count) {
  let left = count
  const lane = async () => {
    while (left-- > 0) await push()
  }
  await Promise.all(Array.from({ length: 32 }, lane))
}

async function wakuLight() {
  const { createLightNode } = await import('waku-light/node')
  const { LightPushClient } = await import('waku-light/light-push')
  const { parallel, StoreClient } = await import('waku-light/store')
  const node = await createLightNode({
    serviceNodes: [address],
    clusterId: Number(clusterId),
    shardCount: Number(shardCount)
  })
  const lightPush = new LightPushClient(node)
  const store = new StoreClient(node)
  return {
    push: async () => {
      const { status } = await lightPush.push({ contentTopic: CONTENT_TOPIC, payload: payload() })
      if (status !== 'published') throw new Error(`a push is ${status}`)
    },
    page: async (way, onPage) => {
      let total = 0
      const options = way === 'best' ? { walker: parallel(8) } : {}
      for await (const { messages } of store.queryPages(
        { contentTopics: [CONTENT_TOPIC] },
        options
      )) {
        total += messages.length
        onPage()
      }
      return total
    },
    close: () => node.close()
  }
}

async function wakuSdk() {
  const { createLightNode } = await import('../../test/interop/js-waku/sdk.js')
  const node = await createLightNode({
    networkConfig: { clusterId: Number(clusterId), numShardsInCluster: Number(shardCount) },
    defaultBootstrap: false,
    discovery: { dns: false, peerExchange: false, peerCache: false },
    bootstrapPeers: [address],
    numPeersToUse: 1,
    lightPush: { autoRetry: false },
    libp2p: {
      filterMultiaddrs: false,
      hideWebSocketInfo: true,
      connectionGater: { denyDialMultiaddr: () => false }
    }
  })
  await node.waitForPeers(['lightpush', 'store'], 20_000)
  const encoder = node.createEncoder({ contentTopic: CONTENT_TOPIC })
  const decoder = node.createDecoder({ contentTopic: CONTENT_TOPIC })
  return {
    // With many pushes at once some fail, and are made again.
    push: async () => {
      const message = { payload: payload() }
      for (let tries = 0; ; tries++) {
        const { successes, failures } = await node.lightPush.send(encoder, message)
        if (successes.length > 0) return
        failedPushes = (failedPushes ?? 0) + 1
        if (tries === 20) throw new Error(`a push failed: ${failures[0]?.error}`)
        await new Promise((resolve) => setTimeout(resolve, 10 * tries))
      }
    },
    page: async (way, onPage) => {
      let total = 0
      const options = way === 'best' ? { paginationLimit: 100 } : {}
      for await (const page of node.store.queryGenerator([decoder], options)) {
        total += (await Promise.all(page)).filter((message) => message !== undefined).length
        onPage()
      }
      return total
    },
    close: () => node.stop()
  }
}

function payload() {
  return crypto.getRandomValues(new Uint8Array(PAYLOAD_BYTES))
}

function cpuUs(since) {
  const { user, system } = process.cpuUsage(since)
  return user + system
}

async function rate(count, run) {
  const start = performance.now()
  await run()
  return (count * 1_000) / (performance.now() - start)
}
