import { BLOCK_ROWS, type Codes, type CompiledColumn } from '@wayleave/geodata/features'

/** Some positions that match, with what measures need to know of them. It is used again for the next positions. */
export class Block {
  length = 0
  positions: Uint32Array = new Uint32Array(BLOCK_ROWS)
  /** The group of each position. */
  readonly groups = new Uint32Array(BLOCK_ROWS)
  readonly #codes = new Map<CompiledColumn, { codes: Uint32Array; isRead: boolean }>()

  /** Begins with the first `length` of these positions. */
  begin(positions: Uint32Array, length: number): void {
    this.positions = positions
    this.length = length
    for (const gathered of this.#codes.values()) gathered.isRead = false
  }

  /** The codes of the positions, copied once for all dimensions and measures of a column. */
  codesOf(column: CompiledColumn): Uint32Array {
    let gathered = this.#codes.get(column)
    if (gathered === undefined) {
      gathered = { codes: new Uint32Array(BLOCK_ROWS), isRead: false }
      this.#codes.set(column, gathered)
    }
    if (!gathered.isRead) gather(column.codes, this.positions, this.length, gathered.codes)
    gathered.isRead = true
    return gathered.codes
  }
}

function gather(codes: Codes, positions: Uint32Array, length: number, gathered: Uint32Array): void {
  if (codes instanceof Uint8Array) gather8(codes, positions, length, gathered)
  else if (codes instanceof Uint16Array) gather16(codes, positions, length, gathered)
  else gather32(codes, positions, length, gathered)
}

// Three loops, because one loop that gets arrays of three widths takes three to five times as long. The loops of
// measures and dimensions only get what these have copied, so that there is one of each.

function gather8(codes: Uint8Array, positions: Uint32Array, length: number, gathered: Uint32Array): void {
  for (let i = 0; i < length; i++) gathered[i] = codes[positions[i]!]!
}

function gather16(codes: Uint16Array, positions: Uint32Array, length: number, gathered: Uint32Array): void {
  for (let i = 0; i < length; i++) gathered[i] = codes[positions[i]!]!
}

function gather32(codes: Uint32Array, positions: Uint32Array, length: number, gathered: Uint32Array): void {
  for (let i = 0; i < length; i++) gathered[i] = codes[positions[i]!]!
}
