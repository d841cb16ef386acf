import { toPubsubTopic, type WakuMessage } from 'waku-light/message'

/** A pushed message, decoded. */
export interface PushRequest {
  readonly requestId: string
  readonly pubsubTopic: string
  readonly message: WakuMessage
  /** As it came. */
  readonly encoded: Uint8Array
}

/** Why a push is refused, as light push 3 says it. */
export interface PushRefusal {
  readonly statusCode: number
  readonly statusDesc: string
}

const STRUCTURE =
  'Invalid content topic structure. Expected either /<application>/<version>/<topic-name>/<encoding> or ' +
  '/<gen>/<application>/<version>/<topic-name>/<encoding>'

const PART_NAMES = ['generation', 'application', 'version', 'topic-name', 'encoding']

/**
 * The pubsub topic of a push that names none.
 *
 * @param shardCount - undefined under static sharding
 * @returns the topic, or why there is none, in the reference node's words
 */
export function derivePubsubTopic(
  contentTopic: string,
  clusterId: number,
  shardCount: number | undefined
): string | PushRefusal {
  if (shardCount === undefined) {
    return {
      statusCode: 420,
      statusDesc: 'Pubsub topic must be specified when static sharding is enabled'
    }
  }
  const problem = contentTopicProblem(contentTopic)
  if (problem !== undefined) {
    return { statusCode: 420, statusDesc: `Invalid content-topic:${problem}` }
  }
  const [, ...parts] = contentTopic.split('/')
  if (parts.length === 5 && Number(parts[0]) > 0) {
    return {
      statusCode: 500,
      statusDesc: 'Auto-sharding error: Generation > 0 are not supported yet'
    }
  }
  return toPubsubTopic(contentTopic, { clusterId, shardCount })
}

function contentTopicProblem(contentTopic: string): string | undefined {
  const [empty, ...parts] = contentTopic.split('/')
  if (empty !== '' || parts.length === 0) {
    return `invalid format: content-topic '${contentTopic}' must start with slash`
  }
  if (parts.length !== 4 && parts.length !== 5) {
    return `invalid format: ${STRUCTURE}`
  }
  const missing = PART_NAMES.slice(-parts.length).find((_name, index) => parts[index] === '')
  if (missing !== undefined) {
    return `missing part: ${missing}`
  }
  return parts.length === 4 || /^[0-9]{1,9}$/.test(parts[0] ?? '')
    ? undefined
    : 'invalid format: generation should be a numeric value'
}
