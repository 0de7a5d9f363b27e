import { DAY } from '../../base/clock.ts'
import { SharedNumbers } from '../../base/threads/shared-numbers.ts'

/** Today, and yesterday for pages that began before midnight. */
const MAX_DAYS = 2

/** How many features each owner has had on a UTC day, which is counted in days since 1970. */
export interface FeatureCounts {
  /** Adds what `more` returns for the number used so far; no other thread counts meanwhile. Returns what was added. */
  add(owner: string, day: number, more: (used: number) => number): number
}

/** The counts of a process with one serving thread. */
export class OwnFeatureCounts implements FeatureCounts {
  /** By day, then by owner. */
  readonly #days = new Map<number, Map<string, number>>()

  add(owner: string, day: number, more: (used: number) => number): number {
    let usedOnDay = this.#days.get(day)
    const used = usedOnDay?.get(owner) ?? 0
    const added = more(used)
    if (usedOnDay === undefined) {
      // No features were taken on a day that is no longer counted, so none can be returned to it.
      if (added <= 0) return 0
      const [oldest] = this.#days.keys()
      if (this.#days.size === MAX_DAYS && oldest !== undefined) this.#days.delete(oldest)
      usedOnDay = new Map()
      this.#days.set(day, usedOnDay)
    }
    if (added !== 0) usedOnDay.set(owner, Math.max(0, used + added))
    return added
  }
}

/** The same counts for all serving threads of a process. */
export class SharedFeatureCounts implements FeatureCounts {
  readonly #numbers: SharedNumbers

  constructor(memory: SharedArrayBuffer) {
    this.#numbers = new SharedNumbers(memory)
  }

  add(owner: string, day: number, more: (used: number) => number): number {
    const numbers = this.#numbers
    const name = `${day} ${owner}`
    const now = Date.now()
    numbers.hold(name)
    const used = numbers.get(name, now)
    const added = more(used)
    if (added !== 0) numbers.set(name, Math.max(0, used + added), (day + MAX_DAYS) * DAY, now)
    numbers.release()
    return added
  }
}
