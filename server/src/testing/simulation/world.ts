import type { NodeTime } from '../../base/node-time.ts'

interface Event {
  at: number
  run: () => void
}

/**
 * A world of simulated time, in milliseconds: what happens in it happens in the order of its events, one after
 * another, and is the same whenever it has the same seed. Nothing in it may wait for real time.
 */
export class World {
  now = 0
  readonly random: () => number
  /** The last one is the next. */
  readonly #events: Event[] = []

  constructor(seed: number) {
    this.random = randomNumbers(seed)
  }

  /** A whole number from `min` up to `max`. */
  between(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1))
  }

  after(milliseconds: number, run: () => void): void {
    const at = this.now + milliseconds
    // Events at the same time keep their order.
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#events[middle]!.at > at) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, { at, run })
  }

  /** Runs the events up to a time, each with all that follows from it without waiting. */
  async runUntil(end: number): Promise<void> {
    while (this.#events.length > 0 && this.#events.at(-1)!.at <= end) {
      const next = this.#events.pop()!
      this.now = next.at
      next.run()
      // Promises settle before this does.
      await new Promise(setImmediate)
    }
    this.now = end
  }
}

/**
 * A process on a machine of its own, whose monotonic clock starts anywhere and runs faster or slower than that of
 * the database. It can stand still, while its clock goes on, and it can die.
 */
export class Machine {
  readonly time: NodeTime
  readonly world: World
  readonly #rate: number
  #pausedUntil = 0
  #isDead = false

  constructor(world: World, { rate, offset }: { rate: number; offset: number }) {
    this.world = world
    this.#rate = rate
    this.time = {
      now: () => offset + world.now * rate,
      sleep: (milliseconds, signal) => this.#sleep(milliseconds, signal),
      every: (milliseconds, work) => this.#every(milliseconds, work),
    }
  }

  pause(milliseconds: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.world.now + milliseconds)
  }

  kill(): void {
    this.#isDead = true
  }

  /** Something reaches the process after a time of the world: later while it stands still, never if it is dead. */
  receive(milliseconds: number, run: () => void): void {
    this.world.after(milliseconds, () => {
      if (this.#isDead) return
      if (this.world.now < this.#pausedUntil) this.receive(this.#pausedUntil - this.world.now, run)
      else run()
    })
  }

  #sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      this.receive(milliseconds / this.#rate, resolve)
    })
  }

  #every(milliseconds: number, work: () => void): () => void {
    let isStopped = false
    const next = () =>
      this.receive(milliseconds / this.#rate, () => {
        if (isStopped) return
        work()
        next()
      })
    next()
    return () => {
      isStopped = true
    }
  }
}

/** Mulberry32: numbers from 0 up to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
