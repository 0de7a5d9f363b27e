import { basename } from 'node:path'
import type { CompileOptions, CompileProgress } from './compile-options.ts'

/** Calls `kill` once the compiling process exceeds a limit of time. `exceeded` is then the reason. */
export class TimeLimits {
  /** A sentence for the publisher. */
  exceeded: string | null = null
  readonly #file: string
  readonly #stalledSeconds: number | undefined
  readonly #kill: () => void
  readonly #total: NodeJS.Timeout | undefined
  #stalled: NodeJS.Timeout | undefined
  #isReading = true

  constructor(options: CompileOptions, kill: () => void) {
    const { seconds, stalledSeconds } = options.limits ?? {}
    this.#file = options.file ?? basename(options.path)
    this.#stalledSeconds = stalledSeconds
    this.#kill = kill
    if (seconds !== undefined) {
      this.#total = setTimeout(
        () =>
          this.#exceed(`publishing it took more than ${seconds} s, the limit of WAYLEAVE_PUBLISH_SECONDS`),
        seconds * 1000,
      ).unref()
    }
  }

  /** The process runs its event loop. Counted from the first time, because starting it takes a while. */
  noteAlive(): void {
    clearTimeout(this.#stalled)
    const seconds = this.#stalledSeconds
    if (seconds === undefined || !this.#isReading || this.exceeded !== null) return
    this.#stalled = setTimeout(
      () =>
        this.#exceed(
          `reading its next row took more than ${seconds} s, the limit of WAYLEAVE_READ_SECONDS. A view in the file may have no end`,
        ),
      seconds * 1000,
    ).unref()
  }

  /** Only reading depends on what the file holds: later steps may block for long if there are many rows. */
  noteProgress({ phase }: CompileProgress): void {
    this.#isReading = phase === 'reading'
    this.noteAlive()
  }

  clear(): void {
    clearTimeout(this.#total)
    clearTimeout(this.#stalled)
  }

  #exceed(reason: string): void {
    this.exceeded = `${this.#file} is refused: ${reason}.`
    this.#kill()
  }
}
