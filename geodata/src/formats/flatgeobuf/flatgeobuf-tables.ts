import { ByteBuffer } from 'flatbuffers'

/**
 * The tables of FlatGeobuf's schema (header.fbs and feature.fbs) that the reader needs. The npm package `flatgeobuf`
 * has them too, but brings OpenLayers with it: 30 MB more in every installation. The tests compare with that package.
 */
export const ColumnType = {
  Byte: 0,
  UByte: 1,
  Bool: 2,
  Short: 3,
  UShort: 4,
  Int: 5,
  UInt: 6,
  Long: 7,
  ULong: 8,
  Float: 9,
  Double: 10,
  String: 11,
  Json: 12,
  DateTime: 13,
  Binary: 14,
} as const

export const GeometryType = {
  Unknown: 0,
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
  CircularString: 8,
  CompoundCurve: 9,
  CurvePolygon: 10,
  MultiCurve: 11,
  MultiSurface: 12,
  Curve: 13,
  Surface: 14,
  PolyhedralSurface: 15,
  TIN: 16,
  Triangle: 17,
} as const

/** Bytes of a node of the index: a box of four doubles and the offset of a feature or node. */
const NODE_BYTES = 40

/**
 * What may be read of a buffer. Any number of offsets may lead to the same table or vector, so that a feature of a
 * few bytes could have any number of parts; an honest one is read at most three times.
 */
class Reading {
  readonly #end: number
  #remaining: number

  constructor(start: number, bytes: number) {
    this.#end = start + bytes
    this.#remaining = bytes * 4
  }

  /** Throws a RangeError if a vector is outside of the feature, or too much was read already. */
  take(at: number, bytes: number): void {
    this.#remaining -= bytes
    if (at < 0 || at + bytes > this.#end || this.#remaining < 0)
      throw new RangeError('the feature is damaged')
  }
}

interface NumbersType<T> {
  new (buffer: ArrayBuffer, offset: number, length: number): T
  readonly BYTES_PER_ELEMENT: number
}

/** A table in a buffer. Fields are numbered in the order of the schema; an absent field has its default value. */
class Table {
  readonly #buffer: ByteBuffer
  readonly #position: number
  readonly #reading: Reading

  constructor(buffer: ByteBuffer, position: number, reading: Reading) {
    this.#buffer = buffer
    this.#position = position
    this.#reading = reading
  }

  uint8(field: number): number {
    const at = this.#place(field)
    return at === null ? 0 : this.#buffer.readUint8(at)
  }

  uint16(field: number, absent: number): number {
    const at = this.#place(field)
    return at === null ? absent : this.#buffer.readUint16(at)
  }

  int32(field: number): number {
    const at = this.#place(field)
    return at === null ? 0 : this.#buffer.readInt32(at)
  }

  uint64(field: number): number {
    const at = this.#place(field)
    return at === null ? 0 : Number(this.#buffer.readUint64(at))
  }

  text(field: number): string | null {
    const at = this.#place(field)
    return at === null ? null : (this.#buffer.__string(at) as string)
  }

  table(field: number): Table | null {
    const at = this.#place(field)
    return at === null ? null : new Table(this.#buffer, this.#buffer.__indirect(at), this.#reading)
  }

  length(field: number): number {
    const at = this.#place(field)
    return at === null ? 0 : this.#buffer.__vector_len(at)
  }

  tables(field: number): Table[] {
    const at = this.#place(field)
    if (at === null) return []
    const start = this.#buffer.__vector(at)
    const count = this.#buffer.__vector_len(at)
    this.#reading.take(start, count * 4)
    return Array.from(
      { length: count },
      (_, i) => new Table(this.#buffer, this.#buffer.__indirect(start + i * 4), this.#reading),
    )
  }

  /** The numbers of a vector, in place: valid until the buffer is overwritten. */
  numbers<T>(field: number, type: NumbersType<T>): T | null {
    const at = this.#place(field)
    if (at === null) return null
    const { buffer, byteOffset } = this.#buffer.bytes()
    const start = this.#buffer.__vector(at)
    const length = this.#buffer.__vector_len(at)
    this.#reading.take(start, length * type.BYTES_PER_ELEMENT)
    return new type(buffer as ArrayBuffer, byteOffset + start, length)
  }

  /** The position of a field's value or offset; null if the table does not have the field. */
  #place(field: number): number | null {
    const offset = this.#buffer.__offset(this.#position, 4 + 2 * field)
    return offset === 0 ? null : this.#position + offset
  }
}

export interface FgbHeader {
  geometryType: number
  columns: { name: string; type: number }[]
  featuresCount: number
  indexNodeSize: number
  crs: { org: string | null; code: number; wkt: string | null; codeString: string | null } | null
}

/** Reads a header with its length in front. */
export function readFgbHeader(bytes: Uint8Array): FgbHeader {
  const header = rootTable(new ByteBuffer(bytes))
  const crs = header.table(10)
  return {
    geometryType: header.uint8(2),
    columns: header.tables(7).map((column) => {
      const name = column.text(0)
      if (!name) throw new TypeError('a column has no name')
      return { name, type: column.uint8(1) }
    }),
    featuresCount: header.uint64(8),
    indexNodeSize: header.uint16(9, 16),
    crs: crs && { org: crs.text(0), code: crs.int32(1), wkt: crs.text(4), codeString: crs.text(5) },
  }
}

/** The size of the index in front of the features. */
export function fgbIndexBytes(items: number, nodeSize: number): number {
  const perNode = Math.max(nodeSize, 2)
  let level = items
  let nodes = items
  do {
    level = Math.ceil(level / perNode)
    nodes += level
  } while (level > 1)
  return nodes * NODE_BYTES
}

export class FgbFeature {
  readonly #table: Table

  /** Reads a feature with its length in front, in place. */
  constructor(buffer: ByteBuffer) {
    this.#table = rootTable(buffer)
  }

  get geometry(): FgbGeometry | null {
    const table = this.#table.table(0)
    return table && new FgbGeometry(table)
  }

  get properties(): Uint8Array | null {
    return this.#table.numbers(1, Uint8Array)
  }

  get hasColumns(): boolean {
    return this.#table.length(2) > 0
  }
}

export class FgbGeometry {
  readonly #table: Table

  constructor(table: Table) {
    this.#table = table
  }

  get ends(): Uint32Array | null {
    return this.#table.numbers(0, Uint32Array)
  }

  get xy(): Float64Array | null {
    return this.#table.numbers(1, Float64Array)
  }

  get z(): Float64Array | null {
    return this.#table.numbers(2, Float64Array)
  }

  get type(): number {
    return this.#table.uint8(6)
  }

  get parts(): FgbGeometry[] {
    return this.#table.tables(7).map((table) => new FgbGeometry(table))
  }
}

/** The root table of a buffer that begins with four bytes of length. */
function rootTable(buffer: ByteBuffer): Table {
  const start = buffer.position() + 4
  const reading = new Reading(start, buffer.readUint32(start - 4))
  return new Table(buffer, start + buffer.readInt32(start), reading)
}
