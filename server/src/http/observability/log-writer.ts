import { write, writeSync } from 'node:fs'

/** The size of the buffer in which lines are gathered, in bytes. */
const GATHERED_BYTES = 64 * 1024
const LONGEST_WAIT_MS = 1000
/** If a reader has stalled, lines are kept up to this size, in bytes; further ones are lost. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** How long a reader that does not keep up with a pipe is left alone. */
const RETRY_MS = 10
/** How long the end of the process waits for a write that has begun, or for a reader that does not read. */
const LAST_WRITE_MS = 500

type LineReceiver = (lines: Buffer) => void

/**
 * Writes lines to a file descriptor. It gathers them, to save a system call per line, and writes them in the
 * background: a reader of a pipe that has stalled must not stop the service. They are written after a second at
 * most, which is short enough for a person who watches the log, and at the end of the process.
 *
 * Each line is encoded once, into the buffer. The stream of our logging library joins lines as text, measures
 * that and then encodes it, and loses the last lines if the process ends while others are being written.
 *
 * See docs/decisions/plain-request-log.md.
 */
export class LogWriter {
  /** All writers of the process, which has one listener for its end. */
  static readonly #all: LogWriter[] = []

  readonly #descriptor: number | LineReceiver
  #gathered = Buffer.allocUnsafe(GATHERED_BYTES)
  #length = 0
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #lostBytes = 0
  #isWriting = false

  /** Instead of a descriptor, a function can take the lines: a thread gives its lines to the one that writes. */
  constructor(descriptor: number | LineReceiver) {
    this.#descriptor = descriptor
    setInterval(() => this.#flush(), LONGEST_WAIT_MS).unref()
    if (LogWriter.#all.length === 0)
      process.on('exit', () => {
        for (const writer of LogWriter.#all) writer.#writeRest()
      })
    LogWriter.#all.push(this)
  }

  /** Writes whole lines that another thread gathered. */
  writeLines(lines: Uint8Array): void {
    this.#flush()
    this.#add(Buffer.from(lines.buffer, lines.byteOffset, lines.length))
  }

  write(line: string): void {
    // A character of a string is at most three bytes.
    const mostBytes = line.length * 3
    if (mostBytes > GATHERED_BYTES - this.#length) this.#flush()
    if (mostBytes > GATHERED_BYTES) this.#add(Buffer.from(line))
    else this.#length += this.#gathered.write(line, this.#length)
  }

  #flush(): void {
    if (this.#length === 0) return
    const lines = this.#gathered.subarray(0, this.#length)
    // The lines are written later, so their buffer cannot be used again.
    this.#gathered = Buffer.allocUnsafe(GATHERED_BYTES)
    this.#length = 0
    this.#add(lines)
  }

  #add(lines: Buffer): void {
    if (typeof this.#descriptor === 'function') {
      this.#descriptor(lines)
      return
    }
    if (this.#waitingBytes + lines.length > MAX_WAITING_BYTES) {
      this.#lostBytes += lines.length
      return
    }
    this.#noteLoss()
    this.#waiting.push(lines)
    this.#waitingBytes += lines.length
    if (!this.#isWriting) this.#writeNext()
  }

  #writeNext(): void {
    if (this.#waiting.length === 0) this.#noteLoss()
    const lines = this.#waiting.shift()
    this.#isWriting = lines !== undefined
    if (lines === undefined) return
    write(this.#descriptor as number, lines, (error, written) => {
      if (error && !isBusy(error)) {
        // The reader is gone, or the disk is full. There is nowhere to report that.
        this.#waitingBytes -= lines.length
        this.#writeNext()
        return
      }
      this.#waitingBytes -= written
      if (written < lines.length) this.#waiting.unshift(lines.subarray(written))
      if (error) setTimeout(() => this.#writeNext(), RETRY_MS)
      else this.#writeNext()
    })
  }

  /** Puts a line in the place of those that were lost. */
  #noteLoss(): void {
    if (this.#lostBytes === 0) return
    const time = new Date().toISOString()
    const note = {
      level: 40,
      time,
      lostBytes: this.#lostBytes,
      msg: 'Log lines were lost: their reader stalled.',
    }
    this.#lostBytes = 0
    const line = Buffer.from(`${JSON.stringify(note)}\n`)
    this.#waiting.push(line)
    this.#waitingBytes += line.length
  }

  /** Runs at the end of the process, where no callback is called any more. */
  #writeRest(): void {
    if (typeof this.#descriptor === 'function') {
      this.#flush()
      return
    }
    // A thread is writing the lines before. Its end cannot be observed from here, and usually takes microseconds.
    if (this.#isWriting) sleep(LAST_WRITE_MS)
    this.#noteLoss()
    const rest = Buffer.concat([...this.#waiting, this.#gathered.subarray(0, this.#length)])
    this.#waiting.length = 0
    this.#length = 0
    let written = 0
    for (let until = performance.now() + LAST_WRITE_MS; written < rest.length; ) {
      try {
        written += writeSync(this.#descriptor, rest, written)
        until = performance.now() + LAST_WRITE_MS
      } catch (error) {
        // The reader is gone or has stalled; the process ends without it.
        if (!isBusy(error as NodeJS.ErrnoException) || performance.now() > until) return
        sleep(1)
      }
    }
  }
}

/** Blocks the thread, at the end of the process. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function isBusy({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EBUSY'
}
