import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const EVERY_MS = 1000
/** A machine is starved if more than this share of its processor time is withheld. Tests run well with a quarter. */
const STARVED = 0.4
const QUIET_MS = 20_000
const MAX_WAIT_MS = 15 * 60_000

/** Jiffies since the machine started. */
interface ProcessorTimes {
  total: number
  stolen: number
}

/**
 * Notes when the host of a virtual machine withholds its processors. Leases of two seconds and timeouts expire then,
 * in the service as in the browsers and databases of the tests, without a fault of any of them.
 */
export class StolenTime {
  readonly #starvedAt: number[] = []
  readonly #timer: NodeJS.Timeout
  #last: ProcessorTimes | null

  constructor(readTimes = readProcessorTimes) {
    this.#last = readTimes()
    this.#timer = setInterval(() => this.note(readTimes()), EVERY_MS)
  }

  note(times: ProcessorTimes | null, now = performance.now()): void {
    const last = this.#last
    this.#last = times
    if (!last || !times || times.total <= last.total) return
    if ((times.stolen - last.stolen) / (times.total - last.total) > STARVED) this.#starvedAt.push(now)
  }

  wasStarved(from: number, to: number): boolean {
    return this.#starvedAt.some((at) => at > from && at - EVERY_MS < to)
  }

  /** Waits until the machine has not been starved for a while, but not without end. */
  async recovered(quietMs = QUIET_MS, maxMs = MAX_WAIT_MS): Promise<void> {
    const end = performance.now() + maxMs
    while (performance.now() < end && performance.now() - (this.#starvedAt.at(-1) ?? -quietMs) < quietMs) {
      await sleep(Math.min(EVERY_MS, quietMs))
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** From the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. Null on other systems. */
function readProcessorTimes(): ProcessorTimes | null {
  if (!existsSync('/proc/stat')) return null
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!
  const times = line.trim().split(/\s+/).slice(1, 9).map(Number)
  return { total: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 }
}
