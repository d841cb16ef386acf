/** The network of these tests; not one of the well-known clusters, and the one of the recorded frames. */
export const CLUSTER_ID = 42

/** Some other network. */
export const OTHER_CLUSTER_ID = 43

/** Eight shards, as the public networks have. */
export const SHARD_COUNT = 8

/** All of them. */
export const SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)

/** How both sides of most tests are set up. */
export const NETWORK = { clusterId: CLUSTER_ID, shardCount: SHARD_COUNT } as const

let topicCount = 0

/** Payload of a message that passes everywhere, whatever its topics: below 149 KiB in all. */
export const LARGE_PAYLOAD_BYTES = 152_000

/** A content topic that no other test of this run uses; `application` decides its shard. */
export function freshTopic(application = 'interop'): string {
  return `/${application}/1/case-${++topicCount}/proto`
}

/** The time in nanoseconds. */
export function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}

/** Ascending by (timestamp, hash), as hex, which is the order of store-query 3.0.0. */
export function inStoreOrder(
  messages: readonly { readonly timestamp?: bigint; readonly hash: string }[]
): string[] {
  return [...messages]
    .sort((a, b) => Number((a.timestamp ?? 0n) - (b.timestamp ?? 0n)) || (a.hash < b.hash ? -1 : 1))
    .map(({ hash }) => hash)
}
