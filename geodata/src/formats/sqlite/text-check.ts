import { quoteName } from '../../quote-sql.ts'
import { type Encoding, findEncoding } from '../reading/text/encoding.ts'
import { hasReplacement } from '../reading/text/invalid-text.ts'
import type { UntrustedDatabase } from '../sqlite/untrusted-database.ts'

/**
 * Finds texts whose bytes are not valid in the database's encoding, which SQLite stores as they are. The bytes
 * are read by a second cursor, and only if a text has replacement characters.
 */
export class TextCheck {
  readonly #database: UntrustedDatabase
  readonly #sql: string
  #encoding: Encoding | null = null
  #cursor: Iterator<unknown> | null = null
  /** The number of the cursor's last row. */
  #row = 0

  /** The columns, in SQL, are those of the first cursor: with the same columns, SQLite keeps the order of the rows. */
  constructor(database: UntrustedDatabase, table: string, columns: string[]) {
    this.#database = database
    this.#sql = `SELECT ${columns.map((column) => `CAST(${column} AS BLOB)`).join(', ')} FROM ${quoteName(table)}`
  }

  /** The first column of a row, counted from 1, whose text is not valid, and its encoding; rows come in their order. */
  invalidColumn(values: unknown[], row: number): { index: number; encoding: string } | null {
    let bytes: unknown[] | null = null
    for (let i = 0; i < values.length; i++) {
      const value = values[i]
      if (typeof value !== 'string' || !hasReplacement(value)) continue
      bytes ??= this.#bytesOf(row)
      const encoding = this.#statedEncoding()
      if (encoding.decode(bytes[i] as Uint8Array) === null) return { index: i, encoding: encoding.name }
    }
    return null
  }

  #bytesOf(row: number): unknown[] {
    if (this.#cursor === null) {
      const statement = this.#database.prepare(this.#sql)
      statement.setReturnArrays(true)
      this.#cursor = statement.iterate()
    }
    let record: unknown[] = []
    for (; this.#row < row; this.#row++) record = this.#cursor.next().value as unknown[]
    return record
  }

  /** `UTF-8`, `UTF-16le` or `UTF-16be`. */
  #statedEncoding(): Encoding {
    this.#encoding ??= findEncoding(String(this.#database.prepare('PRAGMA encoding').get()!['encoding']))!
    return this.#encoding
  }
}
