/**
 * Tells when the network may have come back: the browser is online again, or the page is seen again, before which its timers
 * and links may have slept. Elsewhere than in a page it tells nothing.
 *
 * @param signal - ends this
 */
export function onWake(listener: () => void, signal: AbortSignal): void {
  const { document } = globalThis
  globalThis.addEventListener?.('online', () => listener(), { signal })
  document?.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'visible') {
        listener()
      }
    },
    { signal }
  )
}

/** True where the platform says that there is no network at all. */
export function isOffline(): boolean {
  return globalThis.navigator?.onLine === false
}
