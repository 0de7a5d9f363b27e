import { QueryError, type QueryLimit } from '../query-error.ts'

export interface FairQueueOptions {
  /** What all owners may hold together, such as a number of slots or of bytes. */
  capacity: number
  /** What one owner may hold. Below the capacity, so that one owner never holds everything. */
  share: number
  /** For how long a request may wait, in ms. */
  maxWaitMs: number
  /** Max number of waiting requests of one owner. */
  maxWaiting?: number
  /** What refusals are counted by. */
  limit?: QueryLimit
}

/** What an owner holds. */
export interface Hold {
  /** Releases what exceeds the amount. */
  reduceTo(amount: number): void
  /** Releases the rest; may be called more than once. */
  release(): void
}

interface Waiter {
  amount: number
  grant: () => void
}

const MAX_WAITING = 64

/**
 * A semaphore that is fair between owners: the next free capacity goes to the owner who was served least
 * recently, not to the request that came first, so many requests of one owner delay a request of another by one
 * turn. A request that waits for too long is refused.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  #used = 0
  readonly #usedBy = new Map<string, number>()
  /** The owners who wait, least recently served first. */
  readonly #waiting = new Map<string, Waiter[]>()
  /** When an owner was served last, as a number that grows; only for owners who hold something or wait. */
  readonly #served = new Map<string, number>()
  #turn = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** What is held at the moment. */
  get used(): number {
    return this.#used
  }

  /** The held part of the capacity, from 0 to 1. */
  get saturation(): number {
    return this.#used / this.#options.capacity
  }

  get waiting(): number {
    let count = 0
    for (const waiters of this.#waiting.values()) count += waiters.length
    return count
  }

  /**
   * Waits for the amount. An amount above an owner's share counts as the share. Throws a QueryError, or the signal's
   * reason if it is aborted.
   */
  async acquire(owner: string, amount: number, signal: AbortSignal): Promise<Hold> {
    signal.throwIfAborted()
    const bounded = Math.min(amount, this.#options.share)
    // A request that fits does not overtake a larger one that waits for the same capacity.
    const isNext = !this.#waiting.has(owner) && this.#nextOwner() === null
    if (isNext && this.#isInShare(owner, bounded) && this.#isFree(bounded)) this.#take(owner, bounded)
    else await this.#wait(owner, bounded, signal)
    let held = bounded
    const reduceTo = (rest: number) => {
      if (rest >= held) return
      this.#release(owner, held - rest)
      held = rest
    }
    return { reduceTo, release: () => reduceTo(0) }
  }

  #wait(owner: string, amount: number, signal: AbortSignal): Promise<void> {
    const waiters = this.#waiting.get(owner) ?? []
    if (waiters.length >= (this.#options.maxWaiting ?? MAX_WAITING)) throw this.#overloaded()
    return new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      const leave = (reason: unknown) => {
        end()
        this.#remove(owner, waiter)
        reject(reason)
      }
      const abort = () => leave(signal.reason)
      const timer = setTimeout(() => leave(this.#overloaded()), this.#options.maxWaitMs)
      const waiter = {
        amount,
        grant: () => {
          end()
          resolve()
        },
      }
      signal.addEventListener('abort', abort)
      waiters.push(waiter)
      this.#waiting.set(owner, waiters)
    })
  }

  #remove(owner: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(owner)
    if (!waiters) return
    const at = waiters.indexOf(waiter)
    if (at !== -1) waiters.splice(at, 1)
    if (waiters.length === 0) this.#waiting.delete(owner)
    if (waiters.length === 0 && !this.#usedBy.has(owner)) this.#served.delete(owner)
    // The waiter may have been too large for what was free, and kept smaller ones of its owner waiting.
    this.#serve()
  }

  #isInShare(owner: string, amount: number): boolean {
    return (this.#usedBy.get(owner) ?? 0) + amount <= this.#options.share
  }

  #isFree(amount: number): boolean {
    return this.#used + amount <= this.#options.capacity
  }

  #take(owner: string, amount: number): void {
    this.#used += amount
    this.#usedBy.set(owner, (this.#usedBy.get(owner) ?? 0) + amount)
    this.#served.set(owner, ++this.#turn)
  }

  #release(owner: string, amount: number): void {
    this.#used -= amount
    const rest = this.#usedBy.get(owner)! - amount
    if (rest > 0) this.#usedBy.set(owner, rest)
    else {
      this.#usedBy.delete(owner)
      if (!this.#waiting.has(owner)) this.#served.delete(owner)
    }
    this.#serve()
  }

  /** The owner who was served least recently among those who wait and have not used up their share. */
  #nextOwner(): string | null {
    let next: string | null = null
    for (const [owner, [first]] of this.#waiting) {
      if (!this.#isInShare(owner, first!.amount)) continue
      if (next === null || this.#lastTurn(owner) < this.#lastTurn(next)) next = owner
    }
    return next
  }

  /** Grants what is free. */
  #serve(): void {
    for (let owner = this.#nextOwner(); owner !== null; owner = this.#nextOwner()) {
      const waiters = this.#waiting.get(owner)!
      const [first] = waiters
      if (!this.#isFree(first!.amount)) return
      waiters.shift()
      if (waiters.length === 0) this.#waiting.delete(owner)
      this.#take(owner, first!.amount)
      first!.grant()
    }
  }

  #lastTurn(owner: string): number {
    return this.#served.get(owner) ?? 0
  }

  #overloaded(): QueryError {
    const { limit } = this.#options
    return new QueryError('overloaded', 'Others are served first. Ask again in a moment.', { limit })
  }
}
