import { hash } from 'node:crypto'

export interface TableDigest {
  rows: number
  /** Four sums of 48 bits of each row's SHA-256, modulo 2^48, in hexadecimal. */
  digest: string
}

const MODULUS = 2 ** 48

/**
 * The count and a checksum of a table's rows that do not depend on their order: SQLite and PostgreSQL sort
 * texts differently, and neither has to sort for it. A sum, not an exclusive or, so that equal rows count.
 */
export class RowDigest {
  #rows = 0
  readonly #sums = [0, 0, 0, 0]

  add(line: string): void {
    const bytes = hash('sha256', line, 'buffer')
    for (let part = 0; part < 4; part++) {
      this.#sums[part] = (this.#sums[part]! + bytes.readUIntBE(part * 6, 6)) % MODULUS
    }
    this.#rows++
  }

  result(): TableDigest {
    return { rows: this.#rows, digest: this.#sums.map((sum) => sum.toString(16).padStart(12, '0')).join('') }
  }
}
