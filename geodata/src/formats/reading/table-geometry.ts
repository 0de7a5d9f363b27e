import { type Feature, type FeatureStream, isUnreadable, type UnreadableRow } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { findCoordinateColumns, otherColumns } from './coordinate-columns.ts'
import { geometryReader } from './coordinate-reader.ts'
import type { CoordinateChoice } from './read-options.ts'

type Batch = (Feature | UnreadableRow)[]

/** The rows of the first batch used to detect coordinate columns. */
const SAMPLE_ROWS = 1000

/** Leaves out the geometry of a file, because the publisher wants a table. */
export function withoutGeometry(stream: FeatureStream): FeatureStream {
  const { columns, notes } = stream
  return {
    columns,
    notes,
    spatial: false,
    crs: null,
    totalBytes: stream.totalBytes,
    get bytesRead() {
      return stream.bytesRead
    },
    async *batches() {
      let omittedGeometries = 0
      for await (const batch of stream.batches()) {
        for (const row of batch) {
          if (isUnreadable(row) || row.geometry === null) continue
          row.geometry = null
          omittedGeometries++
        }
        yield batch
      }
      if (omittedGeometries > 0)
        notes.push(`The geometries of ${omittedGeometries} rows were left out, as asked.`)
    },
  }
}

export function refuseCoordinateColumns(
  { longitude, latitude, geometryColumn }: CoordinateChoice,
  file: string,
): void {
  if (longitude === undefined && latitude === undefined && geometryColumn === undefined) return
  throw new SourceError(`${file} has a geometry of its own, so no columns can be named as its coordinates.`)
}

/** Makes geometries from the coordinate columns of a table whose columns are known before its first row. */
export async function withCoordinateColumns(
  stream: FeatureStream,
  choice: CoordinateChoice & { crs?: string; file: string },
): Promise<FeatureStream> {
  const batches = stream.batches()[Symbol.asyncIterator]()
  const first = await batches.next()
  const names = stream.columns.map(({ name }) => name)
  const sample = (first.done ? [] : first.value.slice(0, SAMPLE_ROWS)).flatMap((row) =>
    isUnreadable(row) ? [] : [row.values],
  )
  const coordinates = findCoordinateColumns(names, sample, choice)
  const { columns } = coordinates
  const valueIndexes = otherColumns(names.length, columns)
  const read = columns && geometryReader(columns, names, coordinates.crs)
  const convert = (row: Feature | UnreadableRow): Feature | UnreadableRow => {
    if (isUnreadable(row)) return row
    const geometry = read!(row.values)
    if (typeof geometry === 'string') return { row: row.row, problem: geometry }
    const values = valueIndexes.map((i) => row.values[i] ?? null)
    // Columns that were discovered later follow the others.
    for (let i = names.length; i < row.values.length; i++) values.push(row.values[i]!)
    return { ...row, geometry, values }
  }
  stream.notes.push(...coordinates.notes)
  if (columns === null) {
    stream.batches = () => resumed(first, batches)
    return stream
  }
  const keptColumns = valueIndexes.map((i) => ({ ...stream.columns[i]!, number: i + 1 }))
  const omitted = names.length - valueIndexes.length
  const discovered = () => stream.columns.slice(omitted + keptColumns.length)
  return {
    columns: keptColumns,
    notes: stream.notes,
    crs: coordinates.crs,
    spatial: true,
    totalBytes: stream.totalBytes,
    get bytesRead() {
      return stream.bytesRead
    },
    async *batches(): AsyncGenerator<Batch> {
      for await (const batch of resumed(first, batches)) {
        for (const column of discovered())
          keptColumns.push({ ...column, number: omitted + keptColumns.length + 1 })
        yield batch.map(convert)
      }
    },
  }
}

async function* resumed(first: IteratorResult<Batch>, rest: AsyncIterator<Batch>): AsyncGenerator<Batch> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
