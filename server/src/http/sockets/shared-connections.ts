import { SharedNumbers } from '../../base/threads/shared-numbers.ts'
import type { ThreadPlace } from '../../base/threads/thread-place.ts'

/** A thread's numbers in the shared array. */
const NUMBERS = 2
const GENERATION = 0
const OPEN = 1

/**
 * The open connections of all serving threads, in total and by network address. Each thread counts its own, under the
 * generation of its place: the thread that replaces one that died has a new generation, so that connections which
 * ended with the dead thread count no longer.
 */
export class SharedConnections {
  readonly #byAddress: SharedNumbers
  readonly #threads: Int32Array
  readonly #own: number

  constructor({ memory, number }: ThreadPlace) {
    this.#byAddress = new SharedNumbers(memory.addresses)
    this.#threads = new Int32Array(memory.connections)
    this.#own = (number - 1) * NUMBERS
  }

  /** Called when a thread has died, before it is replaced. */
  static forget({ memory, number }: Pick<ThreadPlace, 'memory' | 'number'>): void {
    const threads = new Int32Array(memory.connections)
    Atomics.add(threads, (number - 1) * NUMBERS + GENERATION, 1)
    Atomics.store(threads, (number - 1) * NUMBERS + OPEN, 0)
  }

  total(): number {
    let total = 0
    for (let at = 0; at < this.#threads.length; at += NUMBERS) total += Atomics.load(this.#threads, at + OPEN)
    return total
  }

  of(address: string): number {
    let count = 0
    for (let at = 0; at < this.#threads.length; at += NUMBERS) {
      const name = this.#nameOf(at, address)
      this.#byAddress.hold(name)
      count += this.#byAddress.get(name, 0)
      this.#byAddress.release()
    }
    return count
  }

  /** `address` is null for a proxy, whose connections count in the total only. */
  add(address: string | null, change: 1 | -1): void {
    Atomics.add(this.#threads, this.#own + OPEN, change)
    if (address === null) return
    const name = this.#nameOf(this.#own, address)
    this.#byAddress.hold(name)
    const count = this.#byAddress.get(name, 0) + change
    // An address without connections needs no slot.
    this.#byAddress.set(name, count, count > 0 ? Number.POSITIVE_INFINITY : 0, 0)
    this.#byAddress.release()
  }

  #nameOf(at: number, address: string): string {
    return `${at} ${Atomics.load(this.#threads, at + GENERATION)} ${address}`
  }
}
