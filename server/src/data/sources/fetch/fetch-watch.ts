import { SourceError } from '@wayleave/geodata/compile'
import { SECOND } from '../../../base/clock.ts'
import { requireFreeDisk } from '../../../base/storage/free-disk.ts'

/** What a source has to send within the idle time, unless it ends: a server that drips is no better than a silent one. */
const MIN_BYTES = 64 << 10

export interface FetchLimits {
  /** For the whole source. */
  totalMs: number
  /** For the next `MIN_BYTES`, or the end. */
  idleMs: number
  /** What must be free on the disk, see `requireFreeDisk`. */
  minFreeBytes: number
}

const LOOK_AT_DISK = SECOND

/**
 * Ends a fetch that takes too long in all, or whose server stands still or drips: otherwise a server that somebody
 * else chose could hold a worker for ever. Also ends one that leaves too little room on the disk.
 */
export class FetchWatch {
  /** Aborted by the caller, or with a SourceError when a limit is exceeded. */
  readonly signal: AbortSignal
  readonly #exceeded = new AbortController()
  readonly #limits: FetchLimits
  readonly #total: NodeJS.Timeout
  readonly #disk: NodeJS.Timeout
  #idle: NodeJS.Timeout
  #bytes = 0

  /** `folder` is where the source is written to. */
  constructor(signal: AbortSignal, limits: FetchLimits, folder: string) {
    this.#limits = limits
    this.signal = AbortSignal.any([signal, this.#exceeded.signal])
    const { totalMs, idleMs, minFreeBytes } = limits
    this.#total = this.#after(
      totalMs,
      `The source was not read completely within ${totalMs / SECOND} seconds (WAYLEAVE_SOURCE_SECONDS).`,
    )
    this.#idle = this.#waitForMore(idleMs)
    const lookAtDisk = () =>
      requireFreeDisk(folder, minFreeBytes).catch((error: unknown) => this.#exceeded.abort(error))
    this.#disk = setInterval(lookAtDisk, LOOK_AT_DISK)
  }

  /** Call with the size of everything that arrives. */
  received(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < MIN_BYTES) return
    this.#bytes = 0
    clearTimeout(this.#idle)
    this.#idle = this.#waitForMore(this.#limits.idleMs)
  }

  end(): void {
    clearTimeout(this.#total)
    clearTimeout(this.#idle)
    clearInterval(this.#disk)
  }

  #waitForMore(idleMs: number): NodeJS.Timeout {
    return this.#after(
      idleMs,
      `The source sent less than ${MIN_BYTES >> 10} KB in ${idleMs / SECOND} seconds (WAYLEAVE_SOURCE_IDLE_SECONDS).`,
    )
  }

  #after(milliseconds: number, message: string): NodeJS.Timeout {
    return setTimeout(() => this.#exceeded.abort(new SourceError(message)), milliseconds)
  }
}
