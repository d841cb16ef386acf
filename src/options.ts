/**
 * Option types that the clients share. Types only.
 *
 * @packageDocumentation
 */

/** Something that happened in one call, told while it happens. */
export interface ProgressEvent<Type extends string = string, Detail = unknown> {
  readonly type: Type
  readonly detail: Detail
}

/** What every asynchronous call of this package takes. */
export interface CallOptions<Progress extends ProgressEvent = ProgressEvent> {
  /** Ends the call: it rejects with the signal's own reason. */
  readonly signal?: AbortSignal
  /** Ends the call with a {@link TimeoutError}; milliseconds, `Infinity` for none. Each call documents its default. */
  readonly timeoutMs?: number
  /** Told what happens in this call. It is not needed for correctness, and an exception in it changes nothing. */
  readonly onProgress?: (event: Progress) => void
}

/** Where log lines go. Any logger with these methods fits; payloads, keys and credentials are never passed. */
export interface Logger {
  /** What only matters when something is looked into. */
  debug(message: string, data?: Readonly<Record<string, unknown>>): void
  /** What happened. */
  info(message: string, data?: Readonly<Record<string, unknown>>): void
  /** What may need attention. */
  warn(message: string, data?: Readonly<Record<string, unknown>>): void
  /** What went wrong. */
  error(message: string, data?: Readonly<Record<string, unknown>>): void
}
