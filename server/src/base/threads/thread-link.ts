/** One end of the connection between two threads: a `Worker`, or the `parentPort` of one. */
interface ThreadPort {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** Answers to the questions of the other thread, by the name of the question. */
type Answers = Record<string, (value: never) => unknown>

type Message =
  | { ask: string; id: number; value: unknown }
  | { tell: string; value: unknown }
  | { reply: number; value: unknown }
  | { reply: number; error: string }

/** Questions and answers between two threads. */
export class ThreadLink {
  readonly #port: ThreadPort
  readonly #answers: Answers
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #closedBy: Error | null = null

  constructor(port: ThreadPort, answers: Answers) {
    this.#port = port
    this.#answers = { ...answers }
    port.on('message', (message) => this.#receive(message as Message))
  }

  /** Adds the answer to a question, before the other thread can ask it. */
  on<T>(question: string, answer: (value: T) => unknown): void {
    this.#answers[question] = answer as (value: never) => unknown
  }

  ask<T>(question: string, value: unknown = null): Promise<T> {
    if (this.#closedBy) return Promise.reject(this.#closedBy)
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#port.postMessage({ ask: question, id, value } satisfies Message)
    return waiting.promise as Promise<T>
  }

  /** The same without an answer. */
  tell(subject: string, value: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage({ tell: subject, value } satisfies Message, transfer)
  }

  /** Fails all questions: the other thread has ended. */
  close(error: Error): void {
    this.#closedBy = error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  #receive(message: Message): void {
    if ('ask' in message) void this.#answer(message)
    else if ('tell' in message) this.#answers[message.tell]!(message.value as never)
    else {
      const waiting = this.#waiting.get(message.reply)
      this.#waiting.delete(message.reply)
      if ('error' in message) waiting?.reject(new Error(message.error))
      else waiting?.resolve(message.value)
    }
  }

  async #answer({ ask, id, value }: { ask: string; id: number; value: unknown }): Promise<void> {
    let reply: Message
    try {
      reply = { reply: id, value: await this.#answers[ask]!(value as never) }
    } catch (error) {
      reply = { reply: id, error: (error as Error).message }
    }
    this.#port.postMessage(reply)
  }
}
