import { TimedWork } from '../work/timed-work.ts'

/**
 * Work that notes the most that is done between two looks at the clock, which is where it can yield: a count of rows,
 * groups or values, which does not depend on how fast a machine is.
 */
export class WatchedWork extends TimedWork {
  longest = 0
  looks = 0
  #done = 0

  constructor() {
    super({ owner: 'test', maxMs: 600_000 })
  }

  /** Notes that something was done. */
  did(count = 1): void {
    this.#done += count
    this.longest = Math.max(this.longest, this.#done)
  }

  #look(): void {
    this.looks++
    this.#done = 0
  }

  override async next(): Promise<void> {
    this.#look()
  }

  override async each(count: number, step: (i: number) => void): Promise<number> {
    for (let i = 0; i < count; i++) {
      step(i)
      this.#look()
    }
    return count
  }
}

/** An array that notes each number that is read of it. */
export function watched<T extends Uint32Array | Float64Array>(array: T, work: WatchedWork): T {
  return new Proxy(array, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) work.did()
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
