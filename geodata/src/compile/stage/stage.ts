import { join } from 'node:path'
import {
  type Feature,
  type Geometry,
  isUnreadable,
  type SourceColumn,
  type UnreadableRow,
  type Value,
} from '../../feature.ts'
import type { RecordReader } from '../../formats/csv/csv-records.ts'
import type { PgcopyKind } from '../../formats/pgcopy/pgcopy-header.ts'
import type { PgcopyRow } from '../../formats/pgcopy/pgcopy-parser.ts'
import { largerThan } from '../../formats/reading/source-limits.ts'
import { rowValueBytes } from '../../formats/reading/value-bytes.ts'
import { type GeometryChanges, noChanges } from '../../geometry/geometry-changes.ts'
import { prepareGeometry, type Transformer } from '../../geometry/prepare-geometry.ts'
import { wkbSize } from '../../geometry/wkb.ts'
import { ColumnBytes } from '../../pack/column-bytes.ts'
import { FEATURE_TAIL, PACK_SEPARATOR, PROPERTIES_HEAD } from '../../pack/pack.ts'
import { type RowProblem, SourceError } from '../../source-error.ts'
import type { PlainColumn } from '../plain-parquet.ts'
import { columnNames } from '../values/column-names.ts'
import { type ExpansionBound, ExpansionLimit } from './expansion-limit.ts'
import { type RowTexts, type Run, RunWriter } from './run-writer.ts'
import { type ColumnProfile, StagedColumn } from './staged-column.ts'
import { type StagedField, stagedField } from './staged-fields.ts'
import { StagedFiles } from './staged-files.ts'
import { type PlaceProfile, StagedPlaces } from './staged-places.ts'
import { StagedText } from './staged-text.ts'
import { joinTexts, noTexts, type StagedTexts } from './staged-texts.ts'

export const DEFAULT_LISTED_PROBLEMS = 10

/**
 * The rows per staged file: enough for the database to work in bulk, few enough that the texts of a chunk stay
 * in the cache of a processor while they are sorted.
 */
const CHUNK_ROWS = 4096
/** Wide rows and geometries with many positions fill a chunk before the max number of rows is reached. */
const CHUNK_BYTES = 1 << 24
/** So do long names of columns, which are written with every row. */
const CHUNK_NAME_BYTES = 1 << 26
/** Longer than any name that people read, so that the names of a small file cannot fill the disk. */
const MAX_NAME_CHARACTERS = 10_000
const POINT_BYTES = 16

const OPEN_PROPERTIES = Buffer.from(`${PROPERTIES_HEAD}{`)
const CLOSE_PROPERTIES = Buffer.from(`}${FEATURE_TAIL}${PACK_SEPARATOR}`)

export interface StageSummary {
  rows: number
  /** The rows that cannot be published: the first few, and the total number. */
  problems: RowProblem[]
  problemCount: number
  /** Rows that were left out later because their id was missing or repeated. */
  skippedForIds: number
  /** Features whose id in the source is neither a text nor a number. */
  unusableIds: number
  places: PlaceProfile
  changes: GeometryChanges
  columns: ColumnProfile[]
  id: ColumnProfile
  files: string[]
  runs: Run[]
  texts: StagedTexts
}

export interface StageOptions {
  folder: string
  /** The prefix of its file names. */
  prefix: string
  transform: Transformer | null
  /** The column that the publisher chose as the features' id. */
  idColumn: string | undefined
  /** How many problems are listed; all are counted. */
  maxProblems?: number
  bound: ExpansionBound
  /** The max size of the values of one row, in bytes. */
  maxRowBytes: number
}

/**
 * Turns features into staged files for the database: prepared geometry, Hilbert key, and every value in a
 * form that can still be converted to any final type. Several stages can process parts of a file in parallel.
 */
export class Stage {
  readonly summary: StageSummary
  readonly #transform: Transformer | null
  readonly #idColumn: string | undefined
  readonly #maxProblems: number
  readonly #columns: StagedColumn[] = []
  readonly #id: StagedColumn
  readonly #runs: RunWriter
  readonly #files: StagedFiles
  readonly #rowNumbers = new ColumnBytes()
  readonly #places = new StagedPlaces(CHUNK_ROWS)
  readonly #texts: StagedText[] = []
  readonly #fields: StagedField[] = []
  /** One of both, as far as they are alike: columns that hold their values themselves. */
  readonly #ownColumns: Omit<StagedField, 'add'>[] = []
  /** The rows of the current chunk: their numbers and, unless they are texts, their values. */
  #rows: number[] = []
  #features: Feature[] = []
  #chunkBytes = 0
  #nameBytes = 0
  readonly #expansion: ExpansionLimit
  readonly #file: string
  readonly #maxRowBytes: number

  constructor(options: StageOptions) {
    this.#transform = options.transform
    this.#idColumn = options.idColumn
    this.#maxProblems = options.maxProblems ?? DEFAULT_LISTED_PROBLEMS
    this.#expansion = new ExpansionLimit(options.bound)
    this.#file = options.bound.file
    this.#maxRowBytes = options.maxRowBytes
    this.#runs = new RunWriter(join(options.folder, `${options.prefix}.runs`))
    this.#files = new StagedFiles(join(options.folder, options.prefix))
    this.#id = new StagedColumn(newProfile({ name: 'id', type: 'infer-json' }, 'id', 0, 0))
    this.summary = {
      rows: 0,
      problems: [],
      problemCount: 0,
      skippedForIds: 0,
      unusableIds: 0,
      places: this.#places.profile,
      changes: noChanges(),
      columns: [],
      id: this.#id.profile,
      files: this.#files.paths,
      runs: this.#runs.runs,
      texts: noTexts(),
    }
  }

  /** Takes ownership: geometries are changed in place. `columns` may have grown since the last call. */
  add(
    rows: (Feature | UnreadableRow)[],
    columns: SourceColumn[],
    stagedName: (index: number) => string,
  ): void {
    while (this.#columns.length < columns.length) {
      const index = this.#columns.length
      const column = columns[index]!
      const firstRow = rows[0]?.row ?? 0
      const profile = newProfile(column, stagedName(index), firstRow, index)
      this.#columns.push(new StagedColumn(profile))
      this.#declare(profile)
    }
    for (const row of rows) {
      if (isUnreadable(row)) this.problem(row.row, row.problem)
      else if (this.#prepare(row.row, row.geometry)) {
        if (row.hasUnusableId) this.summary.unusableIds++
        // An empty id cannot be part of a path, so it counts as missing.
        if (row.id === '') row.id = null
        this.#features.push(row)
        const { geometry } = row
        row.geometry = null
        this.#gather(row.row, geometry, rowValueBytes(row.values))
      }
    }
  }

  /** Declares the columns of a source in which all values are texts; its rows are added with `addTexts`. */
  declareTexts(columns: SourceColumn[]): void {
    for (const [index, column] of columns.entries()) {
      const profile = newProfile(column, `column${index}`, 0, index)
      const text = new StagedText(profile, CHUNK_ROWS)
      this.#texts.push(text)
      this.#ownColumns.push(text)
      this.#declare(profile)
    }
  }

  /** Declares the columns of rows that PostgreSQL sent; they are added with `addFields`. */
  declareFields(columns: SourceColumn[], kinds: PgcopyKind[]): void {
    for (const [index, column] of columns.entries()) {
      const profile = newProfile(column, `column${index}`, 0, index)
      const field = stagedField(kinds[index]!, profile, CHUNK_ROWS)
      this.#fields.push(field)
      this.#ownColumns.push(field)
      this.#declare(profile)
    }
  }

  /** Adds a row whose values are the fields with these indexes. */
  addFields(row: number, { bytes, starts, lengths, size, geometry }: PgcopyRow, indexes: number[]): void {
    if (!this.#prepare(row, geometry)) return
    for (let i = 0; i < indexes.length; i++) {
      const place = indexes[i]!
      this.#fields[i]!.add(bytes, starts[place]!, lengths[place]!)
    }
    this.#gather(row, geometry, size)
  }

  #declare(profile: ColumnProfile): void {
    const { length } = profile.name
    if (length > MAX_NAME_CHARACTERS)
      throw new SourceError(
        `${this.#file} has a column whose name has ${length} characters; at most ${MAX_NAME_CHARACTERS} are read.`,
      )
    this.#nameBytes += length
    this.summary.columns.push(profile)
  }

  /** Adds a row whose values are the record's fields with the indexes in `valueIndexes`. */
  addTexts(row: number, geometry: Geometry | null, record: RecordReader, valueIndexes: number[]): void {
    if (!this.#prepare(row, geometry)) return
    const { bytes, starts, ends, escaped } = record
    for (let i = 0; i < valueIndexes.length; i++) {
      const place = valueIndexes[i]!
      this.#texts[i]!.add(bytes, starts[place]!, ends[place]!, escaped[place] === 1)
    }
    this.#gather(row, geometry, record.at - starts[0]!)
  }

  #gather(row: number, geometry: Geometry | null, valueBytes: number): void {
    if (valueBytes > this.#maxRowBytes)
      throw new SourceError(`${this.#file}: row ${row} is ${largerThan(this.#maxRowBytes)}.`)
    this.#chunkBytes += valueBytes
    this.#rows.push(row)
    this.#places.add(geometry)
    const isFull = this.#rows.length >= CHUNK_ROWS || this.#chunkBytes >= CHUNK_BYTES
    if (isFull || this.#rows.length * this.#nameBytes >= CHUNK_NAME_BYTES) this.#flush()
  }

  #prepare(row: number, geometry: Geometry | null): boolean {
    if (geometry === null) return true
    const prepared = prepareGeometry(geometry, this.#transform, this.summary.changes)
    if (typeof prepared === 'string') {
      this.problem(row, prepared)
      return false
    }
    this.#chunkBytes += prepared.type === 'Point' ? POINT_BYTES : wkbSize(prepared, false)
    return true
  }

  problem(row: number, message: string): void {
    this.summary.problemCount++
    if (this.summary.problems.length < this.#maxProblems) this.summary.problems.push({ row, message })
  }

  /** Ends the files after the last row. */
  finish(): void {
    this.#flush()
    this.#runs.finish()
    this.#files.finish()
  }

  /** Writes the current chunk. */
  #flush(): void {
    const rows = this.#rows.length
    if (rows === 0) return
    // Before anything is encoded: a text that many rows share takes memory only then.
    this.#expansion.add(this.#chunkBytes)
    const columns = [
      this.#encodeRowNumbers(),
      ...this.#places.encode(),
      ...this.#ownColumns.map((column) => column.encode()).filter((column) => column !== null),
      ...this.#encodeValues(this.#features),
    ]
    this.#files.write(rows, columns)
    this.#writeRun()
    this.summary.rows += rows
    for (const column of this.#ownColumns) column.clear()
    this.#places.clear()
    this.#rows = []
    this.#features = []
    this.#chunkBytes = 0
  }

  /** Writes the features' texts as if the columns and types of this chunk applied to all rows. */
  #writeRun(): void {
    const columns = [...this.#ownColumns, ...this.#columns]
    const names = columnNames(
      columns.map(({ profile }) => profile),
      this.#places.profile.hasGeometry,
      [],
    )
    const { texts } = this.summary
    const types = columns.map((column) => column.textTypes())
    const id = this.#idColumn === undefined ? null : findName(this.#idColumn, names, columns)
    const idTypes = id === null ? this.#id.textTypes() : (types[id] ?? 0)
    joinTexts(texts, { ...noTexts(), names, types, idTypes })
    const isUsable = texts.isWhole && texts.types.every((each) => each !== 0)
    this.#runs.write(this.#rows, this.#places, this.#rowTexts(isUsable ? names : null, id))
    texts.bytes = this.#runs.bytes
  }

  #rowTexts(names: string[] | null, idColumn: number | null): RowTexts {
    const features = this.#features
    const texts = this.#ownColumns
    const columns = this.#columns
    const heads = (names ?? []).map((name, i) => Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(name)}:`))
    return {
      id: (row, out) => {
        if (idColumn !== null) {
          texts[idColumn]?.writeText(row, out)
          columns[idColumn]?.writeText(features[row]!.values[idColumn], out)
          return
        }
        const id = features[row]?.id ?? null
        if (id !== null) this.#id.writeText(id, out)
      },
      properties: (row, out) => {
        if (names === null) return
        out.copy(OPEN_PROPERTIES, 0, OPEN_PROPERTIES.length)
        for (let i = 0; i < texts.length; i++) {
          out.copy(heads[i]!, 0, heads[i]!.length)
          texts[i]!.writeText(row, out)
        }
        for (let i = 0; i < columns.length; i++) {
          out.copy(heads[i]!, 0, heads[i]!.length)
          columns[i]!.writeText(features[row]!.values[i], out)
        }
        out.copy(CLOSE_PROPERTIES, 0, CLOSE_PROPERTIES.length)
      },
    }
  }

  #encodeValues(features: Feature[]): PlainColumn[] {
    const rows = features.length
    const values: (Value | undefined)[] = new Array(rows)
    const encoded: PlainColumn[] = []
    for (let row = 0; row < rows; row++) values[row] = features[row]!.id
    const ids = this.#id.encode(values, rows)
    if (ids !== null) encoded.push(ids)
    for (let c = 0; c < this.#columns.length; c++) {
      for (let row = 0; row < rows; row++) values[row] = features[row]!.values[c]
      const column = this.#columns[c]!.encode(values, rows)
      if (column !== null) encoded.push(column)
    }
    return encoded
  }

  #encodeRowNumbers(): PlainColumn {
    this.#rowNumbers.clear()
    for (const row of this.#rows) this.#rowNumbers.int64(row)
    return { name: 'row', type: 'int64', present: null, data: this.#rowNumbers.bytes() }
  }
}

/** The index of a column by its published name, otherwise by its name in the source; -1 if there is none. */
function findName(name: string, names: string[], columns: { profile: ColumnProfile }[]): number {
  const published = names.indexOf(name)
  return published >= 0 ? published : columns.findIndex(({ profile }) => profile.name === name)
}

function newProfile(
  { name, type, number }: SourceColumn,
  staged: string,
  firstRow: number,
  firstPlace: number,
): ColumnProfile {
  const nothing = { kinds: 0, present: 0, blank: 0, notFinite: 0 }
  return { name, staged, declared: type, number, ...nothing, stagedAs: [], firstRow, firstPlace }
}
