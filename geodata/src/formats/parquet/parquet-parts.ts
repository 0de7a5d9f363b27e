import type { FeatureStream, SourceColumn, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { SourcePart } from '../parts/source-part.ts'
import { openParquet, type ParquetBlocks, type ParquetStream, rangesOf } from './parquet.ts'
import type { ParquetOptions, ParquetPart } from './parquet-block.ts'
import { ROW_NUMBER } from './parquet-database.ts'
import { PartReader } from './part-reader.ts'

/** What the first part has, and what all others must have too. */
interface Expected extends Pick<ParquetStream, 'columns' | 'crs' | 'spatial' | 'coordinates'> {
  file: string
}

/**
 * Reads several Parquet files as one table, one after the other. Their columns, geometry and CRS must agree, which
 * is checked before the first row is read. The keys of partitions become columns behind those of the files.
 */
export async function openParquetParts(
  sourceParts: SourcePart[],
  options: ParquetOptions,
): Promise<FeatureStream | ParquetBlocks> {
  const parts: ParquetPart[] = []
  const rowCounts: number[] = []
  const notes = new Set<string>()
  let expected: Expected | null = null
  let columns: SourceColumn[] = []
  let rows = 0
  let bytes = 0
  for (const part of sourceParts) {
    const coordinates: ParquetOptions['coordinates'] = { ...options.coordinates, ...expected?.coordinates }
    const stream = await openParquet(part.path, part.file, { ...options, coordinates, stays: true })
    stream.close()
    if (!('parsing' in stream))
      throw new SourceError(
        `${part.file} has a column named ${ROW_NUMBER}, so it cannot be read together with other files. Rename the column.`,
      )
    if (expected === null) {
      expected = { ...stream, file: part.file }
      columns = [...stream.columns, ...keyColumns(sourceParts, stream.columns)]
    }
    const places = placesOf(stream, part.file, expected)
    const [own] = stream.parsing.parts
    parts.push({
      ...own!,
      rowsBefore: rows,
      places,
      constants: constantsOf(part, columns.slice(places.length)),
    })
    rowCounts.push(stream.rows)
    for (const note of stream.notes) notes.add(note)
    rows += stream.rows
    bytes += stream.totalBytes ?? 0
  }
  return streamOf({ columns, parts, rowCounts, bytes, notes: [...notes] }, expected!, options.stays === true)
}

interface Table {
  columns: SourceColumn[]
  parts: ParquetPart[]
  rowCounts: number[]
  bytes: number
  notes: string[]
}

function streamOf(
  { columns, parts, rowCounts, bytes, notes }: Table,
  { crs, spatial }: Expected,
  stays: boolean,
): FeatureStream | ParquetBlocks {
  const total = rowCounts.reduce((sum, count) => sum + count, 0)
  let row = 0
  async function* blocks() {
    for (const [part, count] of rowCounts.entries()) {
      for (const range of rangesOf(count)) {
        yield { part, ...range }
        row += range.rows
      }
    }
  }
  const stream: FeatureStream = {
    ...{ columns, notes, crs, spatial, totalBytes: bytes },
    get bytesRead() {
      return total === 0 ? bytes : Math.round((row / total) * bytes)
    },
    async *batches() {
      const reader = new PartReader(parts)
      try {
        for await (const block of blocks()) yield* reader.read(block)
      } finally {
        reader.close()
      }
    },
  }
  const parsing = { format: 'parquet' as const, columns, parts }
  return stays ? Object.assign(stream, { parsing, blocks }) : stream
}

/** Partitions are usually not columns of the files too; if one is, its values in the files are taken. */
function keyColumns(parts: SourcePart[], columns: SourceColumn[]): SourceColumn[] {
  return parts[0]!.keys.flatMap(({ name }, i): SourceColumn[] => {
    if (columns.some((column) => column.name === name)) return []
    return [{ name, type: keyType(parts.map(({ keys }) => keys[i]!.value)) }]
  })
}

/** The names of folders are texts: integers and dates are recognised if all of them are. */
function keyType(values: (string | null)[]): 'integer' | 'date' | 'text' {
  const present = values.filter((value) => value !== null)
  const areAll = (test: (value: string) => boolean) => present.length > 0 && present.every(test)
  if (areAll((value) => /^(0|-?[1-9]\d{0,14})$/.test(value))) return 'integer'
  return areAll(isDate) ? 'date' : 'text'
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function constantsOf({ keys }: SourcePart, columns: SourceColumn[]): Value[] {
  return columns.map((column) => {
    const { value } = keys.find(({ name }) => name === column.name)!
    return value !== null && column.type === 'integer' ? Number(value) : value
  })
}

/** The places of the expected columns in a part. Throws if the part differs from the first one. */
function placesOf(part: ParquetStream, file: string, expected: Expected): number[] {
  const first = expected.file
  const places = expected.columns.map(({ name, type }) => {
    const place = part.columns.findIndex((column) => column.name === name)
    if (place < 0) throw new SourceError(`${file} has no column ${name}, which ${first} has. ${AGREE}`)
    const own = part.columns[place]!.type
    if (own !== type)
      throw new SourceError(`${file} has ${name} as ${own}, and ${first} has it as ${type}. ${AGREE}`)
    return place
  })
  const extra = part.columns.find(({ name }) => !expected.columns.some((column) => column.name === name))
  if (extra)
    throw new SourceError(`${file} has a column ${extra.name}, which ${first} does not have. ${AGREE}`)
  if (part.spatial !== expected.spatial)
    throw new SourceError(
      `${part.spatial ? first : file} has no geometry, and ${part.spatial ? file : first} has one. ${AGREE}`,
    )
  if (part.crs !== expected.crs) throw new SourceError(`${file} is in another CRS than ${first}. ${AGREE}`)
  return places
}

const AGREE = 'All files of a dataset have the same columns and the same CRS.'
