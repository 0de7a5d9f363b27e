/** A line that is overwritten in place on a terminal. Prints nothing to a pipe. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  #shownAt = 0

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  /** Throttled to ten updates a second: a terminal is slower than a loop over rows. */
  show(text: string): void {
    if (!this.#stream.isTTY || performance.now() - this.#shownAt < 100) return
    this.#shownAt = performance.now()
    this.#stream.write(`\r\u001b[K${text.slice(0, (this.#stream.columns ?? 100) - 1)}`)
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K')
  }
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
