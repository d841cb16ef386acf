import { errorMessage } from '../errors.ts'

/**
 * The reference node's words for a request that does not decode, from the message of our codec's error.
 *
 * @see protocols recorded from nwaku 0.38.1: `(kind: MissingRequiredField, field: "payload")` and its like
 */
export function decodeFailure(error: unknown): string {
  const text = errorMessage(error)
  const missing =
    / has no (request id|request|query|pubsub topic|content topic|message|payload)$/.exec(text)?.[1]
  if (missing !== undefined) {
    return `(kind: MissingRequiredField, field: "${missing.replace(' ', '_')}")`
  }
  if (text.startsWith('meta of ')) {
    return '(kind: InvalidLengthField, field: "meta")'
  }
  const kind = /wire type/.test(text)
    ? 'BadWireType'
    : /^field .* truncated$/.test(text)
      ? 'MessageIncomplete'
      : 'VarintDecode'
  return `(kind: DecodeFailure, error: ${kind})`
}
