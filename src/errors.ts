/**
 * The one family of errors that this package throws. A leaf: it imports nothing.
 *
 * Classes and codes are stable API, messages are not. Use the guards, not `instanceof`: two copies of a package, or two
 * realms, are normal in browsers.
 *
 * @packageDocumentation
 */

const BRAND = Symbol.for('waku-light.error')

/** Every code that an error of this package can carry, with its meaning. The table in the docs is made from this one. */
export const ERROR_CODES = {
  ERR_INVALID_ARGUMENT: {
    cause: 'an argument is missing, of the wrong type, or out of range',
    retryHelps: false,
    whatToDo: 'mend the call; `parameter` names the argument'
  },
  ERR_MESSAGE_TOO_LARGE: {
    cause: 'the message, as a service node encodes it, is larger than the limit',
    retryHelps: false,
    whatToDo: 'split the payload, or raise the limit if the network allows more'
  },
  ERR_INVALID_MESSAGE: {
    cause: 'bytes from a peer do not decode',
    retryHelps: true,
    whatToDo: 'use another service node; this one is broken or speaks something else'
  },
  ERR_PROTOCOL_VIOLATION: {
    cause: 'a peer sent something that decodes but that the specification rules out',
    retryHelps: true,
    whatToDo: 'use another service node; `detail` says what was wrong'
  },
  ERR_REMOTE_STATUS: {
    cause: 'a service node answered with a status that is not a success',
    retryHelps: true,
    whatToDo: 'read `statusCode` and `statusDesc`; 429 means wait'
  },
  ERR_NO_USABLE_PEER: {
    cause: 'no configured service node could be used',
    retryHelps: true,
    whatToDo: 'read `failures`, one reason for each node; check the addresses and the network'
  },
  ERR_CONNECTION: {
    cause: 'a service node could not be dialed, or a connection or stream to it broke',
    retryHelps: true,
    whatToDo: 'try again, or use another service node'
  },
  ERR_ADDRESS: {
    cause:
      'an address cannot be opened from here (for example ws from an https page, or plain tcp)',
    retryHelps: false,
    whatToDo: 'give an address that this page may open; the message says why not this one'
  },
  ERR_CLUSTER_MISMATCH: {
    cause: 'a service node belongs to another cluster than the one in use',
    retryHelps: false,
    whatToDo: 'correct the cluster id or leave the node out; both values are in the error'
  },
  ERR_UNSUPPORTED: {
    cause: 'the peer, or the protocol generation it speaks, cannot do what was asked',
    retryHelps: false,
    whatToDo: 'use a service node with a newer protocol, or the way the message names'
  },
  ERR_LIMIT_EXCEEDED: {
    cause: 'a bound was exceeded: a frame, a count or a queue',
    retryHelps: false,
    whatToDo: '`limit` is the bound; ask for less at once, or raise it where it is an option'
  },
  ERR_TIMEOUT: {
    cause: 'the deadline of the call, or of one step of it, passed',
    retryHelps: true,
    whatToDo: 'try again, or give more time by `timeoutMs`'
  },
  ERR_CLOSED: {
    cause: 'the light node, the archive or the outbox was closed',
    retryHelps: false,
    whatToDo: 'create a new one'
  },
  ERR_INCOMPLETE_HISTORY: {
    cause: 'a walk through history ended before its end; `cause` says why',
    retryHelps: true,
    whatToDo: 'go on from `position`: pass it as `position` with the same criteria'
  },
  ERR_STORAGE: {
    cause: 'the local database cannot be opened, read or written, or is gone',
    retryHelps: false,
    whatToDo: 'read `reason`; where it is `lost`, open it again; `blocked`: close the other tabs'
  },
  ERR_STORAGE_FULL: {
    cause: 'there is no room left for the local database; what was stored before is still there',
    retryHelps: false,
    whatToDo: 'prune the archive, or ask for persistent storage, then try again'
  }
} as const

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES

/** Base of all errors of this package. */
export abstract class WakuLightError extends Error {
  abstract override readonly name: string
  /** Stable identifier of the kind of error. */
  abstract readonly code: ErrorCode

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/** The caller's fault; thrown before any I/O. */
export class InvalidArgumentError extends WakuLightError {
  override readonly name: string = 'InvalidArgumentError'
  override readonly code = 'ERR_INVALID_ARGUMENT'

  constructor(
    /** Name of the offending parameter, as a path (`criteria.timeStart`). */
    readonly parameter: string,
    problem: string
  ) {
    super(`${parameter} ${problem}`)
  }
}

/** The message is larger than the limit; thrown before any I/O. */
export class MessageTooLargeError extends WakuLightError {
  override readonly name: string = 'MessageTooLargeError'
  override readonly code = 'ERR_MESSAGE_TOO_LARGE'

  constructor(
    /** Size of the message in bytes, as a service node encodes it. */
    readonly sizeBytes: number,
    /** The limit in bytes. */
    readonly limitBytes: number
  ) {
    super(`message of ${sizeBytes} bytes exceeds the limit of ${limitBytes} bytes`)
  }
}

/** Bytes from a peer do not decode. */
export class InvalidMessageError extends WakuLightError {
  override readonly name: string = 'InvalidMessageError'
  override readonly code = 'ERR_INVALID_MESSAGE'
}

/** Something that decodes but breaks the specification. */
export class ProtocolViolationError extends WakuLightError {
  override readonly name: string = 'ProtocolViolationError'
  override readonly code = 'ERR_PROTOCOL_VIOLATION'

  constructor(
    /** What was wrong, as a short stable word (`request-id`, `order`, `cursor`, …). */
    readonly detail: string,
    message: string,
    /** The peer that did it. */
    readonly peerId?: string
  ) {
    super(message)
  }
}

/** A service node answered with a status that is not a success. */
export class RemoteStatusError extends WakuLightError {
  override readonly name: string = 'RemoteStatusError'
  override readonly code = 'ERR_REMOTE_STATUS'
  /** The status as it came, known or not. */
  declare readonly statusCode: number
  /** The node's own words; empty if it gave none. */
  declare readonly statusDesc: string
  /** The request id as it came back; a placeholder or empty on most errors. */
  declare readonly requestId: string
  /** The peer that answered. */
  declare readonly peerId: string

  constructor(init: { statusCode: number; statusDesc: string; requestId: string; peerId: string }) {
    super(`service node answered ${init.statusCode}${init.statusDesc && `: ${init.statusDesc}`}`)
    Object.assign(this, init)
  }
}

/** Why one service node could not be used. */
export interface PeerFailure {
  /** Peer id, or the address where it is not known. */
  readonly peerId: string
  /** What happened. */
  readonly error: Error
}

/** No configured service node could be used. */
export class NoUsablePeerError extends WakuLightError {
  override readonly name: string = 'NoUsablePeerError'
  override readonly code = 'ERR_NO_USABLE_PEER'

  constructor(
    /** One entry for each node tried or skipped. */
    readonly failures: readonly PeerFailure[]
  ) {
    const reasons = failures
      .map(({ peerId, error }) =>
        error.message.startsWith(peerId) ? error.message : `${peerId}: ${error.message}`
      )
      .join('; ')
    super(
      failures.length === 0
        ? 'no service node is configured'
        : `no service node could be used (${reasons})`
    )
  }
}

/** A dial failed, or a connection or stream broke. */
export class ConnectionError extends WakuLightError {
  override readonly name: string = 'ConnectionError'
  override readonly code = 'ERR_CONNECTION'
}

/** An address cannot be opened from here. */
export class AddressError extends WakuLightError {
  override readonly name: string = 'AddressError'
  override readonly code = 'ERR_ADDRESS'

  constructor(
    /** The address, without credentials. */
    readonly address: string,
    reason: string
  ) {
    super(`${address}: ${reason}`)
  }
}

/** A service node belongs to another cluster. */
export class ClusterMismatchError extends WakuLightError {
  override readonly name: string = 'ClusterMismatchError'
  override readonly code = 'ERR_CLUSTER_MISMATCH'

  constructor(
    /** The cluster id in use here. */
    readonly clusterId: number,
    /** What the node says of itself; undefined if it says nothing. */
    readonly remoteClusterId: number | undefined,
    /** The peer. */
    readonly peerId: string
  ) {
    super(
      `service node is of cluster ${remoteClusterId ?? '(not stated)'}, not of cluster ${clusterId}`
    )
  }
}

/** The peer or its protocol generation cannot do what was asked. */
export class UnsupportedError extends WakuLightError {
  override readonly name: string = 'UnsupportedError'
  override readonly code = 'ERR_UNSUPPORTED'
}

/** A bound was exceeded. */
export class LimitExceededError extends WakuLightError {
  override readonly name: string = 'LimitExceededError'
  override readonly code = 'ERR_LIMIT_EXCEEDED'

  constructor(
    message: string,
    /** The bound. */
    readonly limit: number
  ) {
    super(message)
  }
}

/** A deadline passed. */
export class TimeoutError extends WakuLightError {
  override readonly name: string = 'WakuLightTimeoutError'
  override readonly code = 'ERR_TIMEOUT'

  constructor(
    /** What took too long (`push`, `dial`, …). */
    readonly operation: string,
    /** The time it was given, in milliseconds. */
    readonly timeoutMs: number
  ) {
    super(`${operation} did not finish within ${timeoutMs} ms`)
  }
}

/** The light node, or the archive, was closed. */
export class ClosedError extends WakuLightError {
  override readonly name: string = 'ClosedError'
  override readonly code = 'ERR_CLOSED'

  constructor(what = 'the light node') {
    super(`${what} is closed`)
  }
}

/** A walk through history ended before its end. */
export class IncompleteHistoryError extends WakuLightError {
  override readonly name: string = 'IncompleteHistoryError'
  override readonly code = 'ERR_INCOMPLETE_HISTORY'

  constructor(
    /** From where to go on, for the `position` option. Everything before it was delivered. */
    readonly position: string,
    cause: unknown
  ) {
    super(`history is incomplete: ${cause instanceof Error ? cause.message : 'unknown cause'}`, {
      cause
    })
  }
}

/** Why a local database cannot be used. */
export type StorageFailure =
  /** It was deleted, taken over by another version of the app, or closed by the browser. */
  | 'lost'
  /** It was written by a newer version of this package. */
  | 'newer-schema'
  /** Another tab holds an older version of it and does not let go. */
  | 'blocked'
  /** There is none here: no IndexedDB, or none allowed. */
  | 'unavailable'
  /** Anything else; `cause` is the platform's error. */
  | 'failed'

/** The local database cannot be opened, read or written. */
export class StorageError extends WakuLightError {
  override readonly name: string = 'StorageError'
  override readonly code = 'ERR_STORAGE'

  constructor(
    /** What is the matter with it. */
    readonly reason: StorageFailure,
    message: string,
    options?: { cause?: unknown }
  ) {
    super(message, options)
  }
}

/** There is no room left for the local database. What was stored before is still there. */
export class StorageFullError extends WakuLightError {
  override readonly name: string = 'StorageFullError'
  override readonly code = 'ERR_STORAGE_FULL'

  constructor(options?: { cause?: unknown }) {
    super('no room is left for the local database', options)
  }
}

interface ErrorByCode {
  ERR_INVALID_ARGUMENT: InvalidArgumentError
  ERR_MESSAGE_TOO_LARGE: MessageTooLargeError
  ERR_INVALID_MESSAGE: InvalidMessageError
  ERR_PROTOCOL_VIOLATION: ProtocolViolationError
  ERR_REMOTE_STATUS: RemoteStatusError
  ERR_NO_USABLE_PEER: NoUsablePeerError
  ERR_CONNECTION: ConnectionError
  ERR_ADDRESS: AddressError
  ERR_CLUSTER_MISMATCH: ClusterMismatchError
  ERR_UNSUPPORTED: UnsupportedError
  ERR_LIMIT_EXCEEDED: LimitExceededError
  ERR_TIMEOUT: TimeoutError
  ERR_CLOSED: ClosedError
  ERR_INCOMPLETE_HISTORY: IncompleteHistoryError
  ERR_STORAGE: StorageError
  ERR_STORAGE_FULL: StorageFullError
}

/**
 * True for every error that this package threw, whichever copy of it.
 *
 * @example
 * ```ts
 * try { await store.has(hashes) } catch (error) { if (isWakuLightError(error)) console.log(error.code) }
 * ```
 */
export function isWakuLightError(error: unknown): error is WakuLightError {
  return (error as { [BRAND]?: unknown } | null | undefined)?.[BRAND] === true
}

/**
 * True for an error of this package with the given code, or one of several, with its type.
 *
 * @example
 * ```ts
 * if (hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) store.query(criteria, { position: error.position })
 * ```
 */
export function hasErrorCode<Code extends ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ErrorByCode[Code] {
  return isWakuLightError(error) && (codes as readonly string[]).includes(error.code)
}
