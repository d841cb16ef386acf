import { withSignals } from '../lib/deadline.ts'

interface Run<T> extends PromiseWithResolvers<T> {
  controller: AbortController
  waiting: number
}

/** One run of a task for all who want its result at the same time; it is aborted when the last of them gives up. */
export class SharedTask<T> {
  readonly #task: (signal: AbortSignal) => Promise<T>
  #run: Run<T> | undefined

  /** Runs `task` when somebody joins and it does not run yet. */
  constructor(task: (signal: AbortSignal) => Promise<T>) {
    this.#task = task
  }

  /**
   * Waits for the task.
   *
   * @throws the signal's reason, or what the task throws
   */
  async join(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    this.#run ??= this.#start()
    const run = this.#run
    run.waiting++
    try {
      return await withSignals([signal], () => run.promise)
    } finally {
      if (--run.waiting === 0 && this.#run === run) {
        this.#run = undefined
        run.controller.abort()
      }
    }
  }

  /** Begins anew for those who wait; what was under way is given up. */
  restart(): void {
    const run = this.#run
    if (run !== undefined) {
      run.controller.abort()
      run.controller = new AbortController()
      this.#begin(run)
    }
  }

  #start(): Run<T> {
    const run = {
      ...Promise.withResolvers<T>(),
      controller: new AbortController(),
      waiting: 0
    }
    run.promise.catch(() => undefined)
    this.#begin(run)
    return run
  }

  #begin(run: Run<T>): void {
    const { controller } = run
    const isOver = (): boolean => {
      const isCurrent = run.controller === controller
      if (isCurrent && this.#run === run) {
        this.#run = undefined
      }
      return isCurrent
    }
    this.#task(controller.signal).then(
      (result) => isOver() && run.resolve(result),
      (error: unknown) => isOver() && run.reject(error)
    )
  }
}
