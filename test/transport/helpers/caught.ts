import { expect } from 'chai'

/** What a promise rejects with; fails if it does not. */
export async function caught(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    expect(error).to.be.instanceOf(Error)
    return error as Error
  }
  return expect.fail('it did not reject')
}

/** An abort signal that counts the listeners on it. */
export function countedSignal(): AbortController & { readonly listeners: () => number } {
  const controller = new AbortController()
  const { signal } = controller
  const listeners = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (
    type: string,
    listener: EventListener,
    options?: AddEventListenerOptions
  ) => {
    listeners.add(listener)
    options?.signal?.addEventListener('abort', () => listeners.delete(listener))
    add(type, listener, options)
  }
  signal.removeEventListener = (
    type: string,
    listener: EventListener,
    options?: EventListenerOptions
  ) => {
    listeners.delete(listener)
    remove(type, listener, options)
  }
  return Object.assign(controller, { listeners: () => listeners.size })
}

/** Timers that were started through `setTimeout` while something ran, and were neither cleared nor have fired. */
export async function withCountedTimers<T>(
  run: (pending: () => number) => Promise<T>,
  minMs = 0
): Promise<T> {
  const { setTimeout: start, clearTimeout: clear } = globalThis
  const pending = new Set<unknown>()
  globalThis.setTimeout = ((
    callback: (...args: unknown[]) => void,
    ms?: number,
    ...args: unknown[]
  ) => {
    const timer = start(() => {
      pending.delete(timer)
      callback(...args)
    }, ms)
    if ((ms ?? 0) >= minMs) {
      pending.add(timer)
    }
    return timer
  }) as typeof setTimeout
  globalThis.clearTimeout = (timer: Parameters<typeof clear>[0]) => {
    pending.delete(timer)
    clear(timer)
  }
  try {
    return await run(() => pending.size)
  } finally {
    globalThis.setTimeout = start
    globalThis.clearTimeout = clear
  }
}
