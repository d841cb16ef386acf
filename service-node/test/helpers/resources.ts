import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createServiceNode,
  type ServiceNode,
  type ServiceNodeOptions
} from 'waku-light-service-node'
import { Client, type ClientInit } from './client.ts'
import { CLUSTER } from './messages.ts'

/** What a test has opened; released in reverse order by `release`, for `afterEach`. */
export class Resources {
  readonly #releases: (() => unknown)[] = []

  add(release: () => unknown): void {
    this.#releases.push(release)
  }

  async node(options: ServiceNodeOptions = {}): Promise<ServiceNode> {
    const node = await createServiceNode({ clusterId: CLUSTER, ...options })
    this.add(() => node.close())
    return node
  }

  async client(init: ClientInit = { clusterId: CLUSTER }): Promise<Client> {
    const client = await Client.start(init)
    this.add(() => client.stop())
    return client
  }

  /** A directory of its own. */
  directory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'waku-light-'))
    this.add(() => rmSync(directory, { recursive: true, force: true }))
    return directory
  }

  async release(): Promise<void> {
    for (const release of this.#releases.splice(0).reverse()) {
      await release()
    }
  }
}
