import { SharedNumbers } from '../threads/shared-numbers.ts'

const SWEEP_MS = 10_000
/** Many addresses of an attacker must not exhaust the memory: beyond this, the oldest buckets are evicted. */
const MAX_BUCKETS = 500_000

/** When each bucket is full again, in microseconds; 0 if that is unknown or long ago. */
export interface Buckets {
  /** Until `release`, no other thread reads or changes these buckets. */
  hold(first: string, second: string | null): void
  release(): void
  get(name: string, now: number): number
  set(name: string, fullAgainAt: number, now: number): void
  close(): void
}

/** The buckets of a process with one serving thread. */
export class OwnBuckets implements Buckets {
  readonly #fullAgainAt = new Map<string, number>()
  readonly #now: () => number
  readonly #sweep: NodeJS.Timeout

  constructor(now: () => number) {
    this.#now = now
    this.#sweep = setInterval(() => this.#forgetFull(), SWEEP_MS).unref()
  }

  hold(): void {}

  release(): void {}

  get(name: string): number {
    return this.#fullAgainAt.get(name) ?? 0
  }

  set(name: string, fullAgainAt: number): void {
    this.#fullAgainAt.set(name, fullAgainAt)
  }

  close(): void {
    clearInterval(this.#sweep)
  }

  #forgetFull(): void {
    const now = this.#now()
    for (const [bucket, fullAgainAt] of this.#fullAgainAt) {
      if (fullAgainAt <= now || this.#fullAgainAt.size > MAX_BUCKETS) this.#fullAgainAt.delete(bucket)
    }
  }
}

/** The same buckets for all serving threads of a process. A bucket that is full again needs no slot. */
export class SharedBuckets implements Buckets {
  readonly #numbers: SharedNumbers

  constructor(memory: SharedArrayBuffer) {
    this.#numbers = new SharedNumbers(memory)
  }

  hold(first: string, second: string | null): void {
    this.#numbers.hold(first, second)
  }

  release(): void {
    this.#numbers.release()
  }

  get(name: string, now: number): number {
    return this.#numbers.get(name, now)
  }

  set(name: string, fullAgainAt: number, now: number): void {
    this.#numbers.set(name, fullAgainAt, fullAgainAt, now)
  }

  close(): void {}
}
