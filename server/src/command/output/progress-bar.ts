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

  show({ phase, rows, bytesRead, totalBytes }: CompileProgress): void {
    if (!this.#stream.isTTY) return
    const share = phase === 'reading' && totalBytes ? Math.min(1, bytesRead / totalBytes) : null
    const full = Math.round((share ?? 1) * WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`
    const percent = share === null ? '' : ` ${String(Math.floor(share * 100)).padStart(3)} %`
    const rate = Math.round(rows / Math.max(0.001, (performance.now() - this.#began) / 1000))
    const line = `${PHASES[phase].padEnd(8)} ${bar}${percent}  ${rows.toLocaleString('en')} rows  ${rate.toLocaleString('en')} rows/s`
    this.#stream.write(`\r\u001b[K${line.slice(0, (this.#stream.columns ?? 100) - 1)}`)
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K')
  }
}
