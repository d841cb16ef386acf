/** Codes of {@link ServiceNodeError}. */
export type ServiceNodeErrorCode =
  | 'ERR_DATABASE_IN_USE'
  | 'ERR_DATABASE'
  | 'ERR_KEY_FILE'
  | 'ERR_LISTEN'

/** The service node could not start, or its archive could not do what was asked. */
export class ServiceNodeError extends Error {
  override readonly name = 'ServiceNodeError'

  constructor(
    /** Stable identifier of the kind of error. */
    readonly code: ServiceNodeErrorCode,
    message: string,
    options?: { cause?: unknown }
  ) {
    super(message, options)
  }
}

/** The text of whatever was thrown; libp2p rejects with things that are no `Error`. */
export function errorMessage(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}
