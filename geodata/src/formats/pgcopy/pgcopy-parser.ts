import type { Feature, Geometry, UnreadableRow, Value } from '../../feature.ts'
import { readWkb, wkbSrid } from '../../geometry/wkb.ts'
import type { PgcopyHeader, PgcopyKind } from './pgcopy-header.ts'
import { DECODERS, WIDTHS } from './pgcopy-values.ts'

/** Complete rows; `bytes` owns its memory (transferable). */
export interface PgcopyBlock {
  bytes: Uint8Array<ArrayBuffer>
  rows: number
  firstRow: number
}

export interface PgcopyParsing {
  format: 'pgcopy'
  header: PgcopyHeader
}

const BATCH_ROWS = 2000
/** A point in the plane in EWKB, little-endian: its type with the flag of the SRID, and its size. */
const EWKB_POINT = 0x20000001
const POINT_BYTES = 25
/** Takes the rows of a block. */
export interface PgcopyRows {
  row(row: number, fields: PgcopyRow): void
  unreadable(row: number, problem: string): void
}

/** The fields of a row in the bytes of a block; a length of -1 is a missing value. */
export interface PgcopyRow {
  bytes: Buffer
  starts: Int32Array
  lengths: Int32Array
  /** The bytes of all fields, with their lengths. */
  size: number
  geometry: Geometry | null
}

/** Rows as PostgreSQL sends them in binary: the number of fields, then the length and the bytes of each. */
export class PgcopyParser {
  readonly #kinds: PgcopyKind[]
  readonly #widths: Int32Array
  readonly #geometryIndex: number
  readonly #srid: number | null

  constructor({ columns, srid }: PgcopyHeader) {
    this.#kinds = columns.map(({ kind }) => kind)
    this.#widths = Int32Array.from(this.#kinds, (kind) => WIDTHS[kind] ?? -1)
    this.#geometryIndex = this.#kinds.indexOf('geometry')
    this.#srid = srid
  }

  *parse(block: PgcopyBlock): Generator<(Feature | UnreadableRow)[]> {
    const features: (Feature | UnreadableRow)[] = []
    this.read(block, {
      unreadable: (row, problem) => void features.push({ row, problem }),
      row: (row, fields) => void features.push(this.#feature(row, fields)),
    })
    for (let at = 0; at < features.length; at += BATCH_ROWS) yield features.slice(at, at + BATCH_ROWS)
  }

  /** Calls `rows` for each row. What it gets is valid during the call only. */
  read({ bytes, rows: count, firstRow }: PgcopyBlock, rows: PgcopyRows): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const fields = this.#kinds.length
    const row: PgcopyRow = {
      bytes: buffer,
      starts: new Int32Array(fields),
      lengths: new Int32Array(fields),
      size: 0,
      geometry: null,
    }
    let at = 0
    for (let i = 0; i < count; i++) {
      const start = at
      at = this.#findFields(row, at + 2)
      row.size = at - start
      const problem = this.#check(row)
      if (problem === null) rows.row(firstRow + i, row)
      else rows.unreadable(firstRow + i, problem)
    }
  }

  #findFields({ bytes, starts, lengths }: PgcopyRow, start: number): number {
    let at = start
    for (let i = 0; i < starts.length; i++) {
      const length = bytes.readInt32BE(at)
      at += 4
      starts[i] = at
      lengths[i] = length
      if (length > 0) at += length
    }
    return at
  }

  /** Reads the geometry. Returns a sentence if the row cannot be used. */
  #check(row: PgcopyRow): string | null {
    const { bytes, starts, lengths } = row
    for (let i = 0; i < lengths.length; i++) {
      const length = lengths[i]!
      const width = this.#widths[i]!
      if (width >= 0 && length >= 0 && length !== width)
        return `It has a value of the type ${this.#kinds[i]} with ${length} bytes.`
    }
    row.geometry = null
    const index = this.#geometryIndex
    if (index < 0 || lengths[index]! < 0) return null
    const geometry = this.#geometry(bytes, starts[index]!, lengths[index]!)
    if (typeof geometry === 'string') return geometry
    row.geometry = geometry
    return null
  }

  /** Returns a sentence if the geometry cannot be used. */
  #geometry(bytes: Buffer, start: number, length: number): Geometry | string {
    // Most tables have points, which need no reader.
    if (length === POINT_BYTES && bytes.readUInt32LE(start + 1) === EWKB_POINT && bytes[start] === 1) {
      const [x, y] = [bytes.readDoubleLE(start + 9), bytes.readDoubleLE(start + 17)]
      if (bytes.readUInt32LE(start + 5) === this.#srid && !Number.isNaN(x + y))
        return { type: 'Point', coordinates: [x, y] }
    }
    try {
      const ewkb = bytes.subarray(start, start + length)
      const srid = wkbSrid(ewkb) ?? 0
      if (srid !== this.#srid) return `Its geometry has the SRID ${srid}, and others have ${this.#srid}.`
      return readWkb(ewkb)
    } catch (error) {
      return `Its geometry cannot be read: ${(error as Error).message}`
    }
  }

  #feature(row: number, { bytes, starts, lengths, geometry }: PgcopyRow): Feature {
    const values: Value[] = []
    for (const [i, kind] of this.#kinds.entries()) {
      if (kind === 'geometry') continue
      const length = lengths[i]!
      values.push(length < 0 ? null : DECODERS[kind](bytes, starts[i]!, starts[i]! + length))
    }
    return { id: null, values, geometry, row }
  }
}
