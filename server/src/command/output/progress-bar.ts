import type { CompileProgress } from '@wayleave/geodata/compile'

const WIDTH = 24
const PHASES = { reading: 'Reading', sorting: 'Sorting', indexing: 'Indexing' } as const

/** A line that is overwritten in place on a terminal. Prints nothing to a pipe. */
export class ProgressBar {
  readonly #stream: NodeJS.WriteStream
  readonly #began = performance.now()

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  show({ phase, rows, bytesRead, totalBytes, fraction, remainingSeconds }: CompileProgress): void {
    if (!this.#stream.isTTY) return
    const read = phase === 'reading' && totalBytes ? Math.min(1, bytesRead / totalBytes) : null
    const share = fraction ?? read
    const full = Math.round((share ?? 1) * WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`
    const percent = share === null ? '' : ` ${String(Math.floor(share * 100)).padStart(3)} %`
    const rate = Math.round(rows / Math.max(0.001, (performance.now() - this.#began) / 1000))
    const rest = remainingSeconds == null ? '' : `  ${durationText(remainingSeconds)} left`
    const line = `${PHASES[phase].padEnd(8)} ${bar}${percent}${rest}  ${rows.toLocaleString('en')} rows  ${rate.toLocaleString('en')} rows/s`
    this.#stream.write(`\r\u001b[K${line.slice(0, (this.#stream.columns ?? 100) - 1)}`)
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K')
  }
}

/** A duration as people say it, not more precise than an estimate is. */
function durationText(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
