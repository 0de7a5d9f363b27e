import type { IncomingMessage, ServerResponse } from 'node:http'
import { cutOffLateBody } from '../../../http/hooks/body-deadline.ts'

/**
 * Lets each owner have one request under way, whose body is read only then; the others wait, in the order of their
 * arrival. Sixteen bodies of a megabyte at once made pages of others wait for more than 100 ms: each of the steps of one
 * is short, but those of sixteen fall into the same moments, and their memory is collected at once.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export class OneAtATime {
  /** What begins the requests that wait, by owner. An owner has an entry while a request is under way. */
  readonly #waiting = new Map<string, Set<() => void>>()
  /** What is done in turns, by response. */
  readonly #work = new WeakMap<ServerResponse, Promise<unknown>>()
  readonly #bodyDeadline: number | undefined

  /** How long a body may take from its turn on, in ms: the others wait for it. */
  constructor(bodyDeadline?: number) {
    this.#bodyDeadline = bodyDeadline
  }

  /**
   * Resolves when the request may begin. Its turn ends when its response is closed and its work is done. Never resolves
   * if the client leaves before: a client can leave more requests behind than should be carried out, or begun by one
   * another, at once.
   */
  async begin(owner: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(owner)
    if (waiting) waiting.add(resolve)
    else {
      this.#waiting.set(owner, new Set())
      resolve()
    }
    const end = async () => {
      const hasBegun = !this.#waiting.get(owner)!.delete(resolve)
      if (!hasBegun) return
      await this.#work.get(response)?.catch(() => {})
      this.#startNext(owner)
    }
    if (response.closed) void end()
    else response.once('close', end)
    await promise
    cutOffLateBody(request, this.#bodyDeadline)
  }

  /**
   * Does the work of a request that has begun. A client that sends bodies and leaves cannot have more than one of them
   * under way. Never resolves if the client has left before.
   */
  async work<T>(response: ServerResponse, work: () => Promise<T>): Promise<T> {
    if (response.closed) return new Promise<never>(() => {})
    const promise = work()
    this.#work.set(response, promise)
    return promise
  }

  #startNext(owner: string): void {
    const waiting = this.#waiting.get(owner)!
    const [next] = waiting
    if (next === undefined) this.#waiting.delete(owner)
    else {
      waiting.delete(next)
      next()
    }
  }
}
