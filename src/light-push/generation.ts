import type { PushVerdict } from './outcome.ts'

/** A generation of the light push protocol, as a value. */
export interface LightPushGeneration {
  /** Protocol id. */
  readonly protocol: string
  /** Encodes a push of an encoded WakuMessage. */
  encode(
    requestId: string,
    pubsubTopic: string,
    message: Uint8Array<ArrayBuffer>
  ): Uint8Array<ArrayBuffer>
  /**
   * What the node's answer means.
   *
   * @throws {@link InvalidMessageError} if it does not decode
   * @throws {@link ProtocolViolationError} if it is a success for another request
   */
  decode(bytes: Uint8Array, requestId: string, peerId: string): PushVerdict
}
