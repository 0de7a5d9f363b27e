import { Worker } from 'node:worker_threads'
import { errorOf } from '../snapshot/thread-failure.ts'
import type { NumberedReply, NumberedRequest } from './perform-requests.ts'

/**
 * A thread that is started when it is first needed and ends when nothing was asked of it for `idleMs`. Its file calls
 * `performRequests`. An idle thread does not keep the process running.
 */
export class RequestThread<Request, Value> {
  readonly #entry: URL
  readonly #idleMs: number
  readonly #onMessage: (message: unknown) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<Value>>()
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | undefined
  #last = 0

  /** `onMessage` gets the messages of the thread that are not replies. */
  constructor(entry: URL, idleMs: number, onMessage: (message: unknown) => void = () => {}) {
    this.#entry = entry
    this.#idleMs = idleMs
    this.#onMessage = onMessage
  }

  get isRunning(): boolean {
    return this.#worker !== null
  }

  /** How many requests it has not replied to. */
  get pending(): number {
    return this.#waiting.size
  }

  /** Starts the thread, which takes 30 to 50 ms, if it is likely to be needed soon. */
  expect(): void {
    if (this.#worker) return
    try {
      this.#worker = this.#start()
      this.#rest(this.#worker)
    } catch {
      // The system has no thread left now; `perform` tries again when one is needed.
    }
  }

  /** The memory in `moved` moves to the thread. Throws a DamagedSnapshotError if the thread does. */
  perform(request: Request, moved: ArrayBuffer[]): Promise<Value> {
    const waiting = Promise.withResolvers<Value>()
    const message: NumberedRequest<Request> = { number: ++this.#last, request }
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#waiting.set(message.number, waiting)
    this.#worker.postMessage(message, moved)
    return waiting.promise
  }

  #start(): Worker {
    const worker = new Worker(this.#entry)
    worker.on('message', (reply: NumberedReply<Value>) => {
      if (reply.number === undefined) return this.#onMessage(reply)
      const waiting = this.#waiting.get(reply.number)
      this.#waiting.delete(reply.number)
      if ('value' in reply) waiting?.resolve(reply.value)
      else waiting?.reject(errorOf(reply.failure))
      if (this.#waiting.size === 0) this.#rest(worker)
    })
    const end = (error: Error) => {
      if (this.#worker !== worker) return
      this.#worker = null
      clearTimeout(this.#idle)
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.once('error', end)
    worker.once('exit', () => end(new Error(`the thread of ${this.#entry.pathname} ended`)))
    return worker
  }

  #rest(worker: Worker): void {
    worker.unref()
    this.#idle = setTimeout(() => {
      this.#worker = null
      void worker.terminate()
    }, this.#idleMs).unref()
  }
}
