import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal, such as Ctrl+C, ended a command. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
  /** 128 and the signal's number, as shells report it. */
  readonly exitCode: number

  constructor(message: string, signal: NodeJS.Signals) {
    super(message)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/**
 * Aborts the work at the first signal that asks the process to end, so that it removes its temporary files. A
 * second signal ends the process at once.
 */
export async function interruptible<T>(
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => controller.abort(new InterruptedError(message, signal))
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    // Which error aborted work fails with depends on what it was doing.
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}
