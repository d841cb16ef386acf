import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { toHex } from 'waku-light/message'
import { createServiceNode, type ServiceNode } from 'waku-light-service-node'
import { Client } from '../../service-node/test/helpers/client.ts'
import { CLUSTER } from '../../service-node/test/helpers/messages.ts'
import { query } from '../../service-node/test/helpers/store.ts'
import { waitFor } from '../../service-node/test/helpers/wait-for.ts'
import { Random } from '../fuzz/random.ts'
import type { Archives, Hashes } from './ledger.ts'
import { ChaosProxy, type Weather } from './proxy.ts'

export const SHARD_COUNT = 2

/** Rows of one page when an archive is read. */
const PAGE = 100n

/** A service node and the proxy that is the clients' only way to it. */
export interface Member {
  readonly peerId: string
  readonly proxy: ChaosProxy
  /** Where clients reach it. */
  readonly address: string
  /** Undefined: its archive is in memory, so that it is never stopped. */
  readonly file: string | undefined
  /** Undefined while it is down. */
  readonly node: ServiceNode | undefined
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Service nodes that relay to one another without faults, each with an archive of its own. */
export class Fleet {
  readonly members: readonly Mutable<Member>[]
  /** Whether one may be stopped: seeds without that show that all archives come to hold the same. */
  readonly mayRestart: boolean
  /** How often a node was stopped and started again. */
  restarts = 0
  readonly #folder: string
  readonly #reader: Client
  /** What is known to be in the archives; what is in one stays there. */
  readonly #held = new Map<string, Hashes>()
  #closing: Promise<void> | undefined

  private constructor(
    members: readonly Mutable<Member>[],
    folder: string,
    reader: Client,
    mayRestart: boolean
  ) {
    this.members = members
    this.mayRestart = mayRestart
    this.#folder = folder
    this.#reader = reader
  }

  /** @param folder - an empty one, for archives and keys */
  static async start(random: Random, folder: string): Promise<Fleet> {
    const count = 2 + random.int(3)
    const members: Mutable<Member>[] = []
    const reader = await Client.start({ clusterId: CLUSTER })
    const fleet = new Fleet(members, folder, reader, random.chance(0.6))
    for (let index = 0; index < count; index++) {
      const file = random.chance(0.7) ? join(folder, `${index}.sqlite`) : undefined
      const node = await fleet.#open(index, file)
      const proxy = await ChaosProxy.start(
        () => portOf(members[index]?.node),
        new Random(random.int(2 ** 32)),
        toWeather(random)
      )
      const { peerId } = node
      const address = `/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${peerId}`
      members.push({ peerId, proxy, address, file, node })
    }
    await fleet.join()
    return fleet
  }

  get addresses(): readonly string[] {
    return this.members.map(({ address }) => address)
  }

  get peerIds(): readonly string[] {
    return this.members.map(({ peerId }) => peerId)
  }

  /** Those that are up, by addresses that no proxy is in front of. */
  get directAddresses(): readonly string[] {
    return this.members.flatMap(({ node }) => addressOf(node) ?? [])
  }

  /** A client that asks without faults, for what has to be known for sure. */
  get reader(): Client {
    return this.#reader
  }

  /** Connects all nodes with each other, and waits until they relay. */
  async join(): Promise<void> {
    for (const { node } of this.members) {
      await this.#joinWith(node)
    }
    await waitFor('nodes that are joined', () =>
      this.members.every(({ node }) =>
        node?.pubsubTopics.every((topic) => node.relayPeerCount(topic) >= this.members.length - 1)
      )
    )
  }

  /** Stops a node that has a file. */
  async stop(member: Member): Promise<void> {
    const own = this.#own(member)
    const { node } = own
    own.node = undefined
    this.restarts++
    await node?.close()
  }

  /** Starts it again, with the same key and archive. */
  async start(member: Member): Promise<void> {
    const own = this.#own(member)
    const node = await this.#open(this.members.indexOf(own), own.file)
    own.node = node
    await this.#joinWith(node).catch(() => undefined) // another one is being stopped
  }

  /** What the archives hold at least, asked now of those that are up. */
  async held(): Promise<Archives> {
    await Promise.all(
      this.members.map(async ({ peerId, node }) => {
        if (node !== undefined) {
          const read = await this.#read(node).catch(() => undefined) // it is being stopped
          this.#held.set(peerId, new Set([...(this.#held.get(peerId) ?? []), ...(read ?? [])]))
        }
      })
    )
    return new Map(this.peerIds.map((peerId) => [peerId, this.#held.get(peerId) ?? new Set()]))
  }

  /** Stops all nodes, and tells what their archives hold: files are read as they are on disk. */
  async end(): Promise<Archives> {
    const archives = new Map<string, Hashes>()
    for (const { peerId, file, node } of this.members) {
      if (file === undefined && node !== undefined) {
        archives.set(peerId, new Set(await this.#read(node)))
      }
    }
    await this.close()
    for (const { peerId, file } of this.members) {
      if (file !== undefined) {
        const database = new DatabaseSync(file, { readOnly: true })
        const rows = database.prepare('SELECT hash FROM messages').all()
        database.close()
        archives.set(peerId, new Set(rows.map(({ hash }) => toHex(hash as Uint8Array))))
      }
    }
    return archives
  }

  /** Stops all there is; may be called again. */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async #close(): Promise<void> {
    await this.#reader.stop()
    await Promise.all(
      this.members.map(async ({ proxy, node }) => {
        await proxy.close()
        await node?.close()
      })
    )
  }

  #own(member: Member): Mutable<Member> {
    return this.members.find(({ peerId }) => peerId === member.peerId) as Mutable<Member>
  }

  async #open(index: number, file: string | undefined): Promise<ServiceNode> {
    return await createServiceNode({
      clusterId: CLUSTER,
      shardCount: SHARD_COUNT,
      listen: ['/ip4/127.0.0.1/tcp/0/ws'],
      keyFile: join(this.#folder, `${index}.key`),
      ...(file !== undefined && { databaseFile: file })
    })
  }

  /** Connects a node with those that are up. */
  async #joinWith(node: ServiceNode | undefined): Promise<void> {
    const others = this.members.flatMap((member) =>
      member.node === node ? [] : (member.node ?? [])
    )
    await Promise.all(others.map(async (other) => await node?.connect(addressOf(other) ?? '')))
  }

  async #read(node: ServiceNode): Promise<string[]> {
    const all: string[] = []
    let paginationCursor: Uint8Array<ArrayBuffer> | undefined
    do {
      const page = await query(this.#reader, addressOf(node), {
        includeData: false,
        paginationCursor,
        paginationLimit: PAGE
      })
      if (page.statusCode !== 200) {
        throw new Error(`an archive answers ${page.statusCode} ${page.statusDesc ?? ''}`)
      }
      all.push(...page.hashes)
      paginationCursor = page.paginationCursor
    } while (paginationCursor !== undefined)
    return all
  }
}

function addressOf(node: ServiceNode | undefined): string | undefined {
  return node?.multiaddrs[0]
}

function portOf(node: ServiceNode | undefined): number | undefined {
  const port = /\/tcp\/(\d+)\//.exec(addressOf(node) ?? '')?.[1]
  return port === undefined ? undefined : Number(port)
}

/** Some nodes are hardly to be reached, some have no faults but delays. */
function toWeather(random: Random): Weather {
  const roughness = random.pick([0, 0.5, 1, 1.5])
  return {
    refuse: 0.12 * roughness,
    cut: 0.3 * roughness,
    corrupt: 0.2 * roughness,
    stall: 0.3 * roughness,
    blackhole: 0.15 * roughness,
    maxDelayMs: 1 + random.int(8)
  }
}
