import { cpus, freemem } from 'node:os'
import type { StepQueue } from './step-queue.ts'

/** A test process takes seconds to show how busy it keeps the cores. */
const EVERY_MS = 5000
/** Below this, a process more would find no core. */
const IDLE = 0.25
/** Browsers, servers and temporary files of the tests are in memory. */
const MIN_MEMORY_BYTES = 6 * 2 ** 30

/** Milliseconds since the machine started, of all cores. */
export interface CoreTimes {
  total: number
  idle: number
}

/**
 * Keeps the cores busy: when they were idle for more than a quarter of the last seconds, because the tests wait for
 * disks, other processes and time to pass, one more piece of the queue starts. On a busy machine none does, whose tests
 * would only wait for each other.
 */
export class IdleCores {
  readonly #queue: Pick<StepQueue, 'running' | 'startOneMore'>
  readonly #most: number
  readonly #timer: NodeJS.Timeout
  #last: CoreTimes

  constructor(
    queue: Pick<StepQueue, 'running' | 'startOneMore'>,
    most: number,
    readTimes: () => CoreTimes = readCoreTimes,
  ) {
    this.#queue = queue
    this.#most = most
    this.#last = readTimes()
    this.#timer = setInterval(() => this.note(readTimes()), EVERY_MS)
  }

  note(times: CoreTimes, freeMemory = freemem()): void {
    const idle = (times.idle - this.#last.idle) / Math.max(1, times.total - this.#last.total)
    this.#last = times
    const hasRoom = this.#queue.running < this.#most && freeMemory >= MIN_MEMORY_BYTES
    if (idle > IDLE && hasRoom) this.#queue.startOneMore()
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

function readCoreTimes(): CoreTimes {
  const cores = cpus().map(({ times }) => times)
  const sum = (read: (times: (typeof cores)[0]) => number) =>
    cores.reduce((all, times) => all + read(times), 0)
  return {
    total: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
    idle: sum(({ idle }) => idle),
  }
}
