/** What karma.conf.cjs hands to the page. */
export interface PageConfig {
  /** Cluster of the service nodes. */
  readonly clusterId: number
  /** The websocket multiaddrs of each service node; the nodes relay to each other. Empty where none could be started. */
  readonly serviceNodes: readonly (readonly string[])[]
}

interface KarmaGlobal {
  readonly __karma__?: { readonly config: PageConfig }
}

/** The configuration of the page; undefined outside of Karma. */
export function pageConfig(): PageConfig | undefined {
  return (globalThis as KarmaGlobal).__karma__?.config
}
