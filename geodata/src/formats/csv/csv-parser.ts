import { readDecimal } from '../../decimal.ts'
import type { Feature, Geometry, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import type { CoordinateColumns } from '../reading/coordinate-reader.ts'
import { geometryReader } from '../reading/coordinate-reader.ts'
import { RecordReader } from './csv-records.ts'

/** Complete records of a file, to be parsed in this or another thread. */
export interface CsvBlock {
  bytes: Uint8Array<ArrayBuffer>
  /** The row number of the first record, starting at 1, and the number of rows. */
  firstRow: number
  rows: number
  /** The number of records with column names before the first row. */
  headers: number
  /** Whether the bytes were damaged, so that rows with a replacement character cannot be published. */
  damaged: boolean
}

/** What a parser of blocks needs to know about a file: plain data that can be posted to a worker. */
export interface CsvLayout {
  delimiter: string
  /** All columns, including those of the geometry. */
  names: string[]
  /** The indexes of the columns that are kept as values. */
  valueIndexes: number[]
  coordinates: CoordinateColumns | null
  crs: string | null
}

/** What a worker needs to parse the blocks. */
export interface CsvParsing {
  format: 'csv'
  layout: CsvLayout
}

/** The columns that are kept as values, with their numbers in the file. */
export function csvColumns({ names, valueIndexes }: CsvLayout): SourceColumn[] {
  return valueIndexes.map((i) => ({ name: names[i]!, type: 'infer-text', number: i + 1 }))
}

/** The receiver of rows, which makes features of them or passes them directly to the staged columns. */
export interface CsvRows {
  unreadable(row: number, problem: string): void
  /** The values are the record's fields with the indexes `valueIndexes`; only valid during the call. */
  row(row: number, geometry: Geometry | null, record: RecordReader, valueIndexes: number[]): void
}

type GeometryOf = (record: RecordReader) => Geometry | null | string

export class CsvParser {
  readonly #layout: CsvLayout
  readonly #geometryOf: GeometryOf | null

  constructor(layout: CsvLayout) {
    this.#layout = layout
    this.#geometryOf = layout.coordinates === null ? null : recordGeometry(layout.coordinates, layout)
  }

  parse(block: CsvBlock, rows: CsvRows): void {
    const { delimiter, valueIndexes } = this.#layout
    const record = new RecordReader(block.bytes, delimiter)
    for (let i = 0; i < block.headers; i++) record.next()
    let from = record.at
    for (let row = block.firstRow; record.next(); row++) {
      const problem = this.#problem(record, block.damaged && isDamaged(record.bytes, from, record.at))
      from = record.at
      const geometry = problem !== '' || this.#geometryOf === null ? null : this.#geometryOf(record)
      if (problem !== '') rows.unreadable(row, problem)
      else if (typeof geometry === 'string') rows.unreadable(row, geometry)
      else rows.row(row, geometry, record, valueIndexes)
    }
  }

  #problem(record: RecordReader, damaged: boolean): string {
    if (record.problem !== '') return record.problem
    const width = this.#layout.names.length
    const { count, starts, ends } = record
    let isWrong = count < width
    // Trailing delimiters with nothing between them do not count as values.
    for (let i = width; i < count; i++) if (ends[i]! > starts[i]!) isWrong = true
    if (isWrong) return `the row has ${count} ${count === 1 ? 'value' : 'values'} where ${width} are expected`
    return damaged ? 'the text is not UTF-8' : ''
  }
}

function isDamaged(bytes: Buffer, from: number, to: number): boolean {
  // Only this row: to search the rest of the block for every row would take time quadratic in its size.
  return bytes.subarray(from, to).includes('\ufffd')
}

function recordGeometry(coordinates: CoordinateColumns, { names, crs }: CsvLayout): GeometryOf {
  const read = geometryReader(coordinates, names, crs)
  const row: Value[] = new Array(names.length).fill(null)
  if (coordinates.kind !== 'pair') {
    const { column } = coordinates
    return (record) => {
      row[column] = record.text(column)
      return read(row)
    }
  }
  const { x, y } = coordinates
  return (record) => {
    const { bytes, starts, ends } = record
    const longitude = readDecimal(bytes, starts[x]!, ends[x]!)
    const latitude = readDecimal(bytes, starts[y]!, ends[y]!)
    // Anything but plain digits takes the slow path, which also reports errors.
    if (!Number.isNaN(longitude) && !Number.isNaN(latitude))
      return { type: 'Point', coordinates: [longitude, latitude] }
    row[x] = record.text(x)
    row[y] = record.text(y)
    return read(row)
  }
}

/** Collects the rows of a block as features. */
export class CsvFeatures implements CsvRows {
  readonly rows: (Feature | UnreadableRow)[] = []

  unreadable(row: number, problem: string): void {
    this.rows.push({ row, problem })
  }

  row(row: number, geometry: Geometry | null, record: RecordReader, valueIndexes: number[]): void {
    const values: Value[] = new Array(valueIndexes.length)
    for (let i = 0; i < valueIndexes.length; i++) {
      const place = valueIndexes[i]!
      values[i] = record.starts[place] === record.ends[place] ? null : record.text(place)
    }
    this.rows.push({ id: null, values, geometry, row })
  }
}
