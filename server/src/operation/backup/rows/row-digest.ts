import { hash } from 'node:crypto'

export interface TableDigest {
  rows: number
  /** Four sums of 48 bits of each row's SHA-256, modulo 2^48, in hexadecimal. */
  digest: string
}

const MODULUS = 2 ** 48

/**
 * The count and an order-independent checksum of a table's rows: SQLite and PostgreSQL sort text differently,
 * and this way neither has to sort. A sum instead of XOR, so that equal rows do not cancel out.
 */
export class RowDigest {
  #rows = 0
  readonly #sums = [0, 0, 0, 0]

  add(line: string): void {
    // A binary string of 32 characters: creating a Buffer takes as long as the hash itself.
    const bytes = hash('sha256', line, 'binary')
    for (let part = 0; part < 4; part++) {
      const at = part * 6
      const high = bytes.charCodeAt(at) * 65536 + bytes.charCodeAt(at + 1) * 256 + bytes.charCodeAt(at + 2)
      const low = bytes.charCodeAt(at + 3) * 65536 + bytes.charCodeAt(at + 4) * 256 + bytes.charCodeAt(at + 5)
      this.#sums[part] = (this.#sums[part]! + high * 16777216 + low) % MODULUS
    }
    this.#rows++
  }

  result(): TableDigest {
    return { rows: this.#rows, digest: this.#sums.map((sum) => sum.toString(16).padStart(12, '0')).join('') }
  }
}
