import { closeSync, openSync, writeFileSync } from 'node:fs'
import { PlainParquet } from '../plain-parquet.ts'

/** The size of the row groups of the database's own files. */
const GROUP_ROWS = 122_880

/** Writes the numbers of rows that are the ids of features, as the column `id` of a Parquet file. */
export class RowNumbersFile {
  readonly #handle: number
  readonly #parquet = new PlainParquet({ isCompressed: true })
  /** The low and the high word of each number of the current group. */
  readonly #words: Uint32Array
  #count = 0

  constructor(path: string, rows: number) {
    this.#handle = openSync(path, 'w')
    this.#words = new Uint32Array(Math.min(rows, GROUP_ROWS) * 2)
  }

  add(row: number): void {
    const at = this.#count * 2
    this.#words[at] = row
    this.#words[at + 1] = row / 2 ** 32
    if (++this.#count === GROUP_ROWS) this.#writeGroup()
  }

  finish(): void {
    if (this.#count > 0) this.#writeGroup()
    this.#write(this.#parquet.finish())
  }

  close(): void {
    closeSync(this.#handle)
  }

  #writeGroup(): void {
    const data = new Uint8Array(this.#words.buffer, 0, this.#count * 8)
    this.#write(this.#parquet.rowGroup(this.#count, [{ name: 'id', type: 'int64', present: null, data }]))
    this.#count = 0
  }

  #write(parts: Uint8Array[]): void {
    for (const part of parts) writeFileSync(this.#handle, part)
  }
}
