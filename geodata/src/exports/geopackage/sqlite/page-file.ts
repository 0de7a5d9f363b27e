import { closeSync, openSync, writeSync } from 'node:fs'
import { readFullySync } from '../../../bytes/read-fully.ts'

/** SQLite locks bytes here, so the page that has them is never used. */
const LOCK_BYTE = 2 ** 30
const WRITE_BYTES = 1 << 20
const HEADER_BYTES = 100
const PAGE_BYTES_AT = 16
const PAGE_COUNT_AT = 28

/** The number of the page that follows; pages are counted from 1. */
function nextPage(page: number, pageBytes: number): number {
  const lockPage = LOCK_BYTE / pageBytes + 1
  return page + 1 === lockPage ? page + 2 : page + 1
}

/**
 * An SQLite file that no connection has open, to which pages are appended (sqlite.org/fileformat2.html, sections 1.2
 * and 1.3). They belong to the file as soon as it is closed.
 */
export class PageFile {
  readonly pageBytes: number
  #file: number
  readonly #pending: Buffer
  #held = 0
  #last: number

  constructor(path: string) {
    this.#file = openSync(path, 'r+')
    const header = Buffer.alloc(HEADER_BYTES)
    readFullySync(this.#file, header, 0)
    // 65,536 does not fit and is stored as 1.
    const stored = header.readUInt16BE(PAGE_BYTES_AT)
    this.pageBytes = stored === 1 ? 1 << 16 : stored
    this.#last = header.readUInt32BE(PAGE_COUNT_AT)
    this.#pending = Buffer.allocUnsafeSlow(Math.max(WRITE_BYTES, this.pageBytes * 2))
  }

  /** The number that the next appended page gets. */
  get next(): number {
    return nextPage(this.#last, this.pageBytes)
  }

  get afterNext(): number {
    return nextPage(this.next, this.pageBytes)
  }

  append(page: Buffer): number {
    const number = this.next
    const skipped = (number - this.#last - 1) * this.pageBytes
    if (this.#held + skipped + this.pageBytes > this.#pending.length) this.#flush()
    this.#pending.fill(0, this.#held, this.#held + skipped)
    page.copy(this.#pending, this.#held + skipped)
    this.#held += skipped + this.pageBytes
    this.#last = number
    return number
  }

  /** Replaces a page that the file already had. */
  replace(number: number, page: Buffer): void {
    this.#write(page, (number - 1) * this.pageBytes)
  }

  /** Closes the file, which has the appended pages then. */
  close(): void {
    this.#flush()
    const pages = Buffer.alloc(4)
    pages.writeUInt32BE(this.#last)
    this.#write(pages, PAGE_COUNT_AT)
    this.abandon()
  }

  abandon(): void {
    if (this.#file >= 0) closeSync(this.#file)
    this.#file = -1
  }

  #flush(): void {
    const end = this.#last * this.pageBytes
    this.#write(this.#pending.subarray(0, this.#held), end - this.#held)
    this.#held = 0
  }

  #write(bytes: Uint8Array, position: number): void {
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, position + done)
  }
}
