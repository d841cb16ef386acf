import { withSignals } from '../lib/deadline.ts'

interface Run<T> {
  readonly promise: Promise<T>
  readonly controller: AbortController
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

  #start(): Run<T> {
    const controller = new AbortController()
    const run = { promise: this.#task(controller.signal), controller, waiting: 0 }
    const over = (): void => {
      if (this.#run === run) {
        this.#run = undefined
      }
    }
    run.promise.then(over, over)
    return run
  }
}
