import { open, stat } from 'node:fs/promises'
import { readFully } from '../../bytes/read-fully.ts'
import type { FeatureStream, SourceColumn } from '../../feature.ts'
import { quoteName } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import { chooseLayer } from '../reading/choose-layer.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { isGeometry, type ReadTable, readRows, type TableColumn } from './read-rows.ts'
import type { SqliteDialect, SqliteLayer } from './sqlite-dialect.ts'
import { UntrustedDatabase } from './untrusted-database.ts'

const ROW_ID_NAMES = ['rowid', '_rowid_', 'oid']

export interface OpenSqliteOptions {
  layer?: string
  crs?: string
  limits?: SourceLimits
}

/** Opens a layer of an SQLite database: features, or a table without geometry. */
export async function openSqlite(
  path: string,
  file: string,
  dialect: SqliteDialect,
  options: OpenSqliteOptions,
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { size } = await stat(path)
  await refuseTruncated(path, file, size)
  let database: UntrustedDatabase | null = null
  try {
    // Twice the limit, so that rows that are slightly larger are refused with the sentence of the limit.
    database = new UntrustedDatabase(path, file, 2 * limits.rowBytes)
    return openLayer(database, dialect, options, limits, size)
  } catch (error) {
    database?.close()
    throw damaged(error, file, 0, limits)
  }
}

function openLayer(
  database: UntrustedDatabase,
  dialect: SqliteDialect,
  options: OpenSqliteOptions,
  limits: SourceLimits,
  size: number,
): FeatureStream {
  const { file } = database
  const layer = layerOf(database, dialect, options.layer)
  database.requireReadable(layer.name)
  const columns = columnsOf(database, layer)
  const attributes = columns.filter(({ isKey, isMainGeometry }) => !isKey && !isMainGeometry)
  if (attributes.length > limits.columns)
    throw new SourceError(`${file} has ${attributes.length} columns; at most ${limits.columns} are read.`)
  const published: SourceColumn[] = attributes.map((column) => ({
    name: column.name,
    type: dialect.typeOf(column, layer.name, database),
  }))
  const rowId = ROW_ID_NAMES.find((name) => !columns.some((column) => column.name.toLowerCase() === name))
  const expectedRows = rowId === undefined ? null : expectedRowsOf(database, layer.name, rowId)
  const table: ReadTable = {
    layer,
    columns: attributes,
    published,
    idSql: idSql(columns, dialect.numbersRows && expectedRows !== null ? rowId : undefined),
    size,
    limits,
    bytes: 0,
  }
  let row = 0
  let isDone = false
  return {
    columns: published,
    notes: attributes.filter(isGeometry).map(geometryNote),
    crs: layer.geometryColumn === null ? null : (options.crs ?? layer.crs()),
    spatial: layer.geometryColumn !== null,
    totalBytes: expectedRows === null ? null : size,
    get bytesRead() {
      if (expectedRows === null) return table.bytes
      return isDone ? size : Math.round(Math.min(1, row / expectedRows) * size)
    },
    async *batches() {
      try {
        for (const batch of readRows(database, dialect, table)) {
          row += batch.length
          yield batch
        }
        isDone = true
      } catch (error) {
        throw damaged(error, file, row, limits)
      } finally {
        database.close()
      }
    },
  }
}

function layerOf(database: UntrustedDatabase, dialect: SqliteDialect, name: string | undefined): SqliteLayer {
  const layers = dialect.layers(database)
  const isListed = layers.some((layer) => layer.name.toLowerCase() === name?.toLowerCase())
  const unlisted = name === undefined || isListed ? null : dialect.unlistedLayer?.(database, name)
  return unlisted ?? chooseLayer(layers, name, database.file)
}

function columnsOf(database: UntrustedDatabase, layer: SqliteLayer): TableColumn[] {
  const rows = database.columnsOf(layer.name)
  const keys = rows.filter(({ pk }) => Number(pk) > 0)
  const geometryColumn = layer.geometryColumn?.toLowerCase()
  const idColumn = layer.idColumn?.toLowerCase()
  return rows.map(({ name, type, pk }) => {
    const declared = String(type).toUpperCase()
    const lowerName = String(name).toLowerCase()
    return {
      name: String(name),
      declared,
      isKey: lowerName === idColumn || (keys.length === 1 && Number(pk) > 0 && declared === 'INTEGER'),
      isMainGeometry: lowerName === geometryColumn,
    }
  })
}

function idSql(columns: TableColumn[], rowId: string | undefined): string {
  const key = columns.find(({ isKey }) => isKey)
  return key ? quoteName(key.name) : (rowId ?? 'NULL')
}

/** A table has one main geometry column, but other programs add further ones. */
function geometryNote({ name }: TableColumn): string {
  return `Column ${name} is another geometry: it is kept as WKT text, with the coordinates that it has in the file.`
}

/**
 * An estimate for the progress, without reading the rows: the largest row id. Null for a view and for a table
 * without row ids. To count the rows of a view means to compute all of them, which may take any time.
 */
function expectedRowsOf(database: UntrustedDatabase, table: string, rowId: string): number | null {
  if (database.schema.get(table.toLowerCase())?.kind !== 'table') return null
  try {
    const [row] = database.select(`max(${rowId}) AS n`, table)
    return Math.max(1, Number(row?.['n'] ?? 0))
  } catch {
    return null
  }
}

/** Compares the file size with the number of pages in the header. */
async function refuseTruncated(path: string, file: string, size: number): Promise<void> {
  const handle = await open(path)
  try {
    const header = Buffer.alloc(100)
    await readFully(handle, header, 0)
    const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16)
    const expected = pageSize * header.readUInt32BE(28)
    if (size < Math.max(100, expected))
      throw new SourceError(`${file} ends too early: it has ${size} of ${expected} bytes.`)
  } finally {
    await handle.close()
  }
}

function damaged(error: unknown, file: string, row: number, { rowBytes }: SourceLimits): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') return error
  const { message } = error as Error
  if (message.includes('too big')) return new SourceError(`${file}: a row is ${largerThan(rowBytes)}.`)
  const where = row > 0 ? ` after row ${row}` : ''
  return new SourceError(`${file} cannot be read${where}: ${message}.`)
}
