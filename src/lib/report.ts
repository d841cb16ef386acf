/** Calls a listener with something; an exception in it changes nothing for the caller. */
export function report<Event>(listener: ((event: Event) => void) | undefined, event: Event): void {
  try {
    listener?.(event)
  } catch {
    // A listener only watches.
  }
}
