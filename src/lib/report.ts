import type { Logger } from '../options.ts'

/** Calls a listener with something; an exception in it changes nothing for the caller. */
export function report<Event>(listener: ((event: Event) => void) | undefined, event: Event): void {
  try {
    listener?.(event)
  } catch {
    // A listener only watches.
  }
}

/** A logger that is always there and never throws, over one that may be missing or broken. */
export function toLogger(logger: Logger | undefined): Logger {
  const method =
    (level: keyof Logger): Logger['info'] =>
    (message, data) =>
      report(() => logger?.[level](message, data), undefined)
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error')
  }
}
