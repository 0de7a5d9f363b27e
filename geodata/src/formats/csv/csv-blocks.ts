import { SourceError } from '../../source-error.ts'
import { largerThan, type SourceLimits } from '../reading/source-limits.ts'
import type { CsvBlock } from './csv-parser.ts'
import { RecordScanner } from './csv-records.ts'

/** Assembles pieces of a file into blocks of complete records, and counts their rows. */
export class CsvBlocks {
  readonly #file: string
  readonly #limits: SourceLimits
  readonly #scanner: RecordScanner
  readonly #headers: number
  /** The number of records in the blocks returned so far, including the header. */
  #recordCount = 0
  /** The pieces of the incomplete record, and whether one of them was damaged. */
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #isDamaged = false

  constructor(file: string, limits: SourceLimits, delimiter: string, headers: number) {
    this.#file = file
    this.#limits = limits
    this.#scanner = new RecordScanner(delimiter)
    this.#headers = headers
  }

  /** Adds the next piece; returns the records that end in it, or null if none does. */
  take(piece: Uint8Array, damaged: boolean, isLast: boolean): CsvBlock | null {
    const scanner = this.#scanner
    let ended = scanner.scan(piece, 0)
    this.#isDamaged ||= damaged
    if (isLast) {
      if (scanner.isQuoted)
        throw new SourceError(
          `${this.#file} ends inside a quoted value that begins in row ${this.#nextRow()}.`,
        )
      scanner.finish()
      ended = piece.length
    }
    const block = ended < 0 ? null : this.#block(piece.subarray(0, ended))
    if (ended < piece.length) this.#keep(piece.subarray(Math.max(0, ended)))
    else this.#isDamaged = false
    return block
  }

  #keep(rest: Uint8Array): void {
    this.#pending.push(rest)
    this.#pendingBytes += rest.length
    const { rowBytes } = this.#limits
    if (this.#pendingBytes <= rowBytes) return
    const reason = this.#scanner.isQuoted ? ' A quote in it is opened and not closed.' : ''
    throw new SourceError(`${this.#file}: row ${this.#nextRow()} is ${largerThan(rowBytes)}.${reason}`)
  }

  #nextRow(): number {
    return Math.max(0, this.#scanner.records - this.#headers) + 1
  }

  #block(end: Uint8Array): CsvBlock | null {
    const bytes = new Uint8Array(this.#pendingBytes + end.length)
    let at = 0
    for (const piece of this.#pending) {
      bytes.set(piece, at)
      at += piece.length
    }
    bytes.set(end, at)
    this.#pending = []
    this.#pendingBytes = 0
    const records = this.#scanner.records - this.#recordCount
    if (records === 0) return null
    const headers = Math.min(records, Math.max(0, this.#headers - this.#recordCount))
    const firstRow = Math.max(0, this.#recordCount - this.#headers) + 1
    this.#recordCount += records
    return { bytes, firstRow, rows: records - headers, headers, damaged: this.#isDamaged }
  }
}
