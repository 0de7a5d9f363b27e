import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Column } from '../../feature.ts'
import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { stringValue } from '../../pack/property-slices.ts'
import { quoteName } from '../../quote-sql.ts'
import { exportColumns, hasIntegerIds } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import type { ExportOptions } from '../export-options.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import { parseNumber } from '../geometry/geometry-bytes.ts'
import { layerType } from '../geometry/layer-type.ts'
import { type IntegerSize, integerSizes } from '../integer-ranges.ts'
import { GeometryBlobs } from './geometry-blob.ts'
import { readIdOrder, readPackById } from './pack-by-id.ts'
import { RtreeBuilder } from './rtree.ts'
import { createTables, createTriggers, tableNames } from './schema.ts'

const QUOTE = 0x22
const TRUE = 0x74

/** An incomplete file is discarded, so neither a journal nor a sync is needed in between. */
const PRAGMAS = 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;'

/**
 * OGC GeoPackage 1.3 with its R-tree extension; a table without geometry becomes an attributes table. Row ids
 * are the features' ids if those are integers and more than row numbers; otherwise they follow the snapshot
 * order. Readers return the rows in the order of row ids.
 */
export async function writeGeopackage(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
): Promise<undefined> {
  const columns = exportColumns(manifest)
  const sizes = await integerSizes(folder, columns, options)
  const layer = { ...manifest, columns }
  const names = tableNames(layer)
  const hasOwnIds = hasIntegerIds(manifest) && areRowIds(manifest, columns, sizes)
  const database = new DatabaseSync(partial)
  try {
    database.enableDefensive(false)
    database.exec(PRAGMAS)
    database.exec('BEGIN')
    createTables(database, layer, names, sizes, options)
    const rtree = names.geometry
      ? new RtreeBuilder(database, `rtree_${options.table}_${names.geometry}`, manifest.rows)
      : null
    const placeholders = Array.from({ length: names.columns.length + (rtree ? 2 : 1) }, () => '?')
    const insert = database.prepare(
      `INSERT INTO ${quoteName(options.table)} VALUES (${placeholders.join(', ')})`,
    )
    // Rows are inserted in the order of their ids: in random order, most inserts would split a page of the B-tree.
    const order = hasOwnIds ? await readIdOrder(folder, manifest, options.signal) : null
    const blocks = order
      ? readPackById(folder, manifest, order, { scratch: `${partial}.parts`, signal: options.signal })
      : readPack(folder, manifest, options.signal)

    const types = layerType(manifest)
    const slices = new FeatureSlices()
    const values = new RowSlices(manifest)
    const geometry = new FlatGeometry()
    const blobs = new GeometryBlobs(manifest.hasZ)
    const readers = columns.map((column, c) => valueReader(column, sizes[c] ?? null))
    const row: SQLInputValue[] = new Array(placeholders.length)
    let rows = 0
    for await (const { bytes, count, starts, ends } of blocks) {
      for (let i = 0; i < count; i++) {
        slices.locate(bytes, starts[i]!, ends[i]!)
        values.locateRow(bytes, slices)
        const position = order ? order.positions[rows]! : rows
        rows++
        let at = 0
        const rowId = hasOwnIds ? parseNumber(bytes, slices.idStart, slices.idEnd) : rows
        row[at++] = rowId
        if (rtree) {
          const located = geometry.read(bytes, slices.geometryStart)
          if (types.multi) geometry.promote()
          row[at++] = geometry.code === 0 ? null : blobs.blob(geometry, !located)
          if (located)
            rtree.set(position, rowId, geometry.west, geometry.east, geometry.south, geometry.north)
        }
        for (let c = 0; c < readers.length; c++) {
          row[at++] = values.isNull(bytes, c)
            ? null
            : readers[c]!(bytes, values.starts[c]!, values.ends[c]!, values.escaped[c]! === 1)
        }
        insert.run(...row)
      }
    }
    rtree?.finish(order?.positions ?? null)
    createTriggers(database, options.table, names)
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

/** Row ids are exact in a double, because the R-tree is built from doubles. */
function areRowIds(
  { id }: Manifest,
  columns: readonly Column[],
  sizes: readonly (IntegerSize | null)[],
): boolean {
  const size = sizes[columns.findIndex(({ name }) => name === (id.column ?? id.name))]
  return size === 'int32' || size === 'int53'
}

type ValueReader = (bytes: Buffer, start: number, end: number, escaped: boolean) => SQLInputValue

function valueReader({ type }: Column, size: IntegerSize | null): ValueReader {
  switch (type) {
    case 'boolean':
      return (bytes, start) => (bytes[start] === TRUE ? 1 : 0)
    case 'integer':
      if (size === 'larger') return (bytes, start, end) => bytes.toString('latin1', start, end)
      if (size === 'int64') return (bytes, start, end) => BigInt(bytes.toString('latin1', start, end))
      return parseNumber
    case 'number':
      return parseNumber
    case 'json':
      return (bytes, start, end) => bytes.toString('utf8', start, end)
    case 'timestamp':
      return (bytes, start, end) => milliseconds(bytes.toString('latin1', start + 1, end - 1))
    case 'text':
    case 'date':
      return textOf
  }
}

function textOf(bytes: Buffer, start: number, end: number, escaped: boolean): string {
  if (escaped) return stringValue(bytes, start, end)
  return bytes[start] === QUOTE
    ? bytes.toString('utf8', start + 1, end - 1)
    : bytes.toString('utf8', start, end)
}

/** GeoPackage times have milliseconds; finer ones are kept, because all readers accept them. */
function milliseconds(time: string): string {
  const fraction = /\.(\d+)Z$/.exec(time)?.[1] ?? ''
  if (fraction.length >= 3) return time
  return fraction === ''
    ? `${time.slice(0, -1)}.000Z`
    : `${time.slice(0, -1)}${'0'.repeat(3 - fraction.length)}Z`
}
