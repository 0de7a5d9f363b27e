import type { ServerResponse } from 'node:http'

/**
 * Lets each owner have one request under way, whose body is read only then; the others wait, in the order of their
 * arrival. Sixteen schemas of a megabyte at once made pages of others wait for more than 100 ms: each of the steps of one
 * is short, but those of sixteen fall into the same moments, and their memory is collected at once.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export class OneAtATime {
  /** What the requests that wait begin, by owner. An owner has an entry while a request is under way. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Resolves when the request may begin. It ends when its response is closed, which may be before its turn. */
  begin(owner: string, response: ServerResponse): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const start = () => {
      resolve()
      if (response.closed) this.#startNext(owner)
      else response.once('close', () => this.#startNext(owner))
    }
    const waiting = this.#waiting.get(owner)
    if (waiting) waiting.push(start)
    else {
      this.#waiting.set(owner, [])
      start()
    }
    return promise
  }

  #startNext(owner: string): void {
    const next = this.#waiting.get(owner)!.shift()
    if (next) next()
    else this.#waiting.delete(owner)
  }
}
