// The two service nodes that `npm start` runs, and the folder that they write to.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createServiceNode } from 'waku-light-service-node'
import { CheckError } from './start-report.js'

// no well-known network
const CLUSTER_ID = 66
const SHARD_COUNT = 8

/** An empty folder of our own; `remove` takes it away again. */
export async function makeFolder() {
  let folder
  try {
    folder = await mkdtemp(join(tmpdir(), 'waku-light-start-'))
  } catch (error) {
    throw new CheckError(
      `No folder can be made in ${tmpdir()} (${error.code ?? error.message}). Set TMPDIR to a folder that can be written to.`,
      { cause: error }
    )
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Two nodes on loopback and free ports; the second dials the first, and they relay to each other. */
export async function startNodes(folder) {
  const nodes = []
  const close = async () => {
    await Promise.all(nodes.map((node) => node.close()))
  }
  try {
    for (const name of ['first', 'second']) {
      nodes.push(
        await createServiceNode({
          listen: ['/ip4/127.0.0.1/tcp/0/ws'],
          clusterId: CLUSTER_ID,
          shardCount: SHARD_COUNT,
          databaseFile: join(folder, `${name}.sqlite`),
          peers: nodes.flatMap(({ multiaddrs }) => multiaddrs)
        })
      )
    }
  } catch (error) {
    await close()
    throw new CheckError(`The service nodes cannot be started: ${describeStart(error, folder)}`, {
      cause: error
    })
  }
  return {
    nodes,
    ends: nodes.map(({ multiaddrs }, index) => ({
      name: index === 0 ? 'first' : 'second',
      address: multiaddrs.find((address) => address.includes('/ws'))
    })),
    files: nodes.map((_, index) =>
      join(basename(folder), index === 0 ? 'first.sqlite' : 'second.sqlite')
    ),
    close
  }
}

function describeStart(error, folder) {
  switch (error.code) {
    case 'ERR_LISTEN':
      return `${error.message}. They need free ports on 127.0.0.1.`
    case 'ERR_DATABASE':
    case 'ERR_DATABASE_IN_USE':
      return `${error.message}. They keep their archives in ${folder}.`
    default:
      return error.message
  }
}
