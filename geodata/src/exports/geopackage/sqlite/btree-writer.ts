import { copyBytes } from '../../../bytes/copy-bytes.ts'
import type { PageFile } from './page-file.ts'
import { putVarint, varintBytes } from './varint.ts'

const LEAF = 0x0d
const LEAF_HEADER = 8
const INTERIOR = 0x05
const INTERIOR_HEADER = 12
const POINTER = 2
const PAGE_NUMBER = 4

/**
 * Writes the rows of an empty table, in ascending order of their ids, as the pages of its B-tree
 * (sqlite.org/fileformat2.html, section 1.6). Pages are full and written once: inserting the same rows takes several
 * times as long.
 */
export class BtreeWriter {
  readonly #file: PageFile
  readonly #root: number
  readonly #page: Buffer
  /** The cells of the current leaf, one after the other, and where they begin. */
  readonly #cells: Buffer
  readonly #starts: Uint16Array
  #count = 0
  #held = 0
  /** The id that was added last. */
  lastId = -Infinity
  readonly #leaves: Child[] = []

  /** `root` is the table's root page. */
  constructor(file: PageFile, root: number) {
    this.#file = file
    this.#root = root
    this.#page = Buffer.alloc(file.pageBytes)
    this.#cells = Buffer.alloc(file.pageBytes)
    this.#starts = new Uint16Array(file.pageBytes / POINTER)
  }

  /** The record of the row is in `bytes` from `start` to `end`. */
  add(id: number, bytes: Buffer, start: number, end: number): void {
    if (id <= this.lastId) throw new Error('Rows are not in ascending order of their ids.')
    const local = this.#localBytes(end - start)
    const isSplit = local < end - start
    const size = varintBytes(end - start) + varintBytes(id) + local + (isSplit ? PAGE_NUMBER : 0)
    if (LEAF_HEADER + (this.#count + 1) * POINTER + this.#held + size > this.#page.length) this.#endLeaf()
    const overflow = isSplit ? this.#putOverflow(bytes, start + local, end) : 0
    this.#starts[this.#count++] = this.#held
    let at = putVarint(this.#cells, this.#held, end - start)
    at = putVarint(this.#cells, at, id)
    at = copyBytes(bytes, start, start + local, this.#cells, at)
    if (isSplit) at = this.#cells.writeUInt32BE(overflow, at)
    this.#held = at
    this.lastId = id
  }

  finish(): void {
    if (this.#leaves.length === 0) {
      this.#fillLeaf()
      this.#file.replace(this.#root, this.#page)
      return
    }
    this.#endLeaf()
    let level = this.#leaves
    const max = this.#maxChildren()
    while (level.length > max) {
      const pages = Math.ceil(level.length / max)
      level = Array.from({ length: pages }, (_, i) => {
        const start = Math.floor((i * level.length) / pages)
        const end = Math.floor(((i + 1) * level.length) / pages)
        this.#fillInterior(level.slice(start, end))
        return { page: this.#file.append(this.#page), lastId: level[end - 1]!.lastId }
      })
    }
    this.#fillInterior(level)
    this.#file.replace(this.#root, this.#page)
  }

  /** How many bytes of a record are in its leaf; the others are in overflow pages. */
  #localBytes(bytes: number): number {
    const usable = this.#page.length
    const max = usable - 35
    if (bytes <= max) return bytes
    const min = Math.floor(((usable - 12) * 32) / 255) - 23
    const local = min + ((bytes - min) % (usable - PAGE_NUMBER))
    return local <= max ? local : min
  }

  /** Returns the first of the pages, each of which names the next one. */
  #putOverflow(bytes: Buffer, start: number, end: number): number {
    const file = this.#file
    const page = Buffer.alloc(file.pageBytes)
    const first = file.next
    for (let at = start; at < end; at += page.length - PAGE_NUMBER) {
      const isLast = end - at <= page.length - PAGE_NUMBER
      page.writeUInt32BE(isLast ? 0 : file.afterNext, 0)
      page.fill(0, PAGE_NUMBER)
      bytes.copy(page, PAGE_NUMBER, at, Math.min(end, at + page.length - PAGE_NUMBER))
      file.append(page)
    }
    return first
  }

  #endLeaf(): void {
    this.#fillLeaf()
    this.#leaves.push({ page: this.#file.append(this.#page), lastId: this.lastId })
    this.#count = 0
    this.#held = 0
  }

  #fillLeaf(): void {
    const page = this.#page
    const content = page.length - this.#held
    this.#putHeader(LEAF, this.#count, content)
    for (let i = 0; i < this.#count; i++) {
      const start = content + this.#starts[i]!
      page[LEAF_HEADER + i * POINTER] = start >> 8
      page[LEAF_HEADER + i * POINTER + 1] = start & 0xff
    }
    page.fill(0, LEAF_HEADER + this.#count * POINTER, content)
    this.#cells.copy(page, content, 0, this.#held)
  }

  /** All children but the last one are cells with the largest id below them. */
  #fillInterior(children: Child[]): void {
    const page = this.#page
    page.fill(0)
    let content = page.length
    for (const [i, { page: child, lastId }] of children.slice(0, -1).entries()) {
      content -= PAGE_NUMBER + varintBytes(lastId)
      putVarint(page, page.writeUInt32BE(child, content), lastId)
      page.writeUInt16BE(content, INTERIOR_HEADER + i * POINTER)
    }
    this.#putHeader(INTERIOR, children.length - 1, content)
    page.writeUInt32BE(children.at(-1)!.page, LEAF_HEADER)
  }

  /** No free blocks and no fragments. An empty page of 65,536 bytes has the content offset 0. */
  #putHeader(type: number, cells: number, content: number): void {
    this.#page[0] = type
    this.#page.writeUInt16BE(0, 1)
    this.#page.writeUInt16BE(cells, 3)
    this.#page.writeUInt16BE(content & 0xffff, 5)
    this.#page[7] = 0
  }

  #maxChildren(): number {
    const longest = this.#leaves.reduce((max, { lastId }) => Math.max(max, varintBytes(lastId)), 0)
    return Math.floor((this.#page.length - INTERIOR_HEADER) / (PAGE_NUMBER + longest + POINTER)) + 1
  }
}

interface Child {
  page: number
  /** The largest id below it. */
  lastId: number
}
