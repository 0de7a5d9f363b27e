import { closeSync, openSync, readSync } from 'node:fs'

const BLOCK_BYTES = 1 << 22
const TAB = 9
const NEWLINE = 10

/**
 * Lines written by the database: a row number, a tab, the id as JSON, a tab, and the properties in the format
 * of a run, which end with a newline. The lines are in snapshot order.
 */
export class PropertyLines {
  /** The current line, with the offsets of its parts in `bytes`. */
  bytes: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  id = 0
  properties = 0
  end = 0
  readonly #handle: number
  #row = -1
  #filled = 0
  /** Whether the row of the current line has been reached. */
  #isTaken = true

  constructor(path: string) {
    this.#handle = openSync(path, 'r')
  }

  close(): void {
    closeSync(this.#handle)
  }

  get length(): number {
    return this.end - this.id
  }

  /** Returns whether the row has a line, and if so makes it current. Must be called for all rows in order. */
  reach(row: number): boolean {
    if (this.#isTaken) this.#next()
    this.#isTaken = this.#row === row
    return this.#isTaken
  }

  #next(): void {
    let newline = this.bytes.indexOf(NEWLINE, this.end)
    while (newline < 0 || newline >= this.#filled) {
      if (!this.#fill()) {
        this.#row = -1
        return
      }
      newline = this.bytes.indexOf(NEWLINE, this.end)
    }
    const { bytes } = this
    const tab = bytes.indexOf(TAB, this.end)
    this.#row = Number(bytes.toString('latin1', this.end, tab))
    this.id = tab + 1
    this.properties = bytes.indexOf(TAB, this.id) + 1
    this.end = newline + 1
  }

  /** Moves the remaining bytes to the front and reads more; returns false at the end of the file. */
  #fill(): boolean {
    const unreadBytes = this.#filled - this.end
    const size = unreadBytes > BLOCK_BYTES / 2 ? unreadBytes * 2 : BLOCK_BYTES
    const bytes = size === this.bytes.length ? this.bytes : Buffer.allocUnsafeSlow(size)
    this.bytes.copy(bytes, 0, this.end, this.#filled)
    this.bytes = bytes
    this.end = 0
    const read = readSync(this.#handle, bytes, unreadBytes, size - unreadBytes, null)
    this.#filled = unreadBytes + read
    return read > 0
  }
}
