import { type Feature, type FeatureStream, isUnreadable, type UnreadableRow } from '../../feature.ts'
import { openParquet } from '../../formats/parquet/parquet.ts'
import { limitsOf } from '../../formats/reading/source-limits.ts'
import { type DuckDb, openDuckDb } from '../../open-duckdb.ts'
import { parquetSql, quoteName, quoteText } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import type { CompileOptions } from '../compile-options.ts'
import { databaseThreads, divideMemory } from '../memory.ts'
import { type MergedColumns, mergeSql } from './merge-sql.ts'
import type { Revision, RevisionCounts } from './revision.ts'
import type { Key } from './revision-key.ts'

interface RowFiles {
  rows: string
  ids: string | null
}

interface Merge {
  key: Key
  columns: MergedColumns
  revision: Revision
  file: string
  options: CompileOptions
  signal: AbortSignal | undefined
}

const LISTED_IDS = 5

/** Writes the rows of the version before and of the changes to one file, in the order of their numbers. */
export async function writeMerged(
  { folder, temporaryFolder, mergedFile }: { folder: string; temporaryFolder: string; mergedFile: string },
  { before, delta }: { before: RowFiles; delta: RowFiles },
  { key, columns, revision, file, options, signal }: Merge,
): Promise<RevisionCounts> {
  const files = [before.rows, before.ids].filter((path) => path !== null)
  const database = await openDuckDb({
    threads: databaseThreads(options),
    memoryLimit: `${divideMemory(options.memoryMegabytes).database}MB`,
    folders: [folder],
    files,
    temporaryFolder,
  })
  const interrupt = () => database.connection.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    const row = quoteName(columns.rowName)
    await database.connection.run(`CREATE VIEW b AS ${numberedSql(before, row, '0')}`)
    const [last] = await valuesOf(database, `SELECT coalesce(max(${row}), 0)::BIGINT FROM b`)
    await database.connection.run(`CREATE VIEW d AS ${numberedSql(delta, row, String(last))}`)
    const keyName = key.kind === 'row' ? null : key.name
    const counts = await countChanges(database, keyName, revision)
    if (revision.mode === 'append' && counts.updated > 0)
      throw await repeatedIds(database, keyName!, counts.updated, file)
    const sql = mergeSql(columns, revision, keyName, key.kind === 'source')
    await database.connection.run(
      `COPY (${sql}) TO ${quoteText(mergedFile)} (FORMAT parquet, COMPRESSION snappy)`,
    )
    return revision.mode === 'append' ? { ...counts, removed: 0 } : counts
  } finally {
    signal?.removeEventListener('abort', interrupt)
    database.close()
  }
}

/** The rows with their numbers: ids if these are row numbers, otherwise positions. */
function numberedSql({ rows, ids }: RowFiles, row: string, offset: string): string {
  const table = parquetSql(rows, 'file_row_number = true')
  if (ids === null)
    return `SELECT * EXCLUDE (file_row_number), ${offset} + file_row_number + 1 AS ${row} FROM ${table}`
  return `SELECT r.* EXCLUDE (file_row_number), ${offset} + i.id AS ${row} FROM ${table} AS r POSITIONAL JOIN ${parquetSql(ids)} AS i`
}

async function countChanges(
  database: DuckDb,
  key: string | null,
  { deleteMissing }: Revision,
): Promise<RevisionCounts> {
  const [added] = await valuesOf(database, 'SELECT count(*) FROM d')
  if (key === null) return { added: Number(added), updated: 0, removed: 0 }
  const name = quoteName(key)
  const [matched, all] = await valuesOf(
    database,
    `SELECT count(*) FILTER (WHERE ${name} IN (SELECT ${name} FROM d)), count(*) FROM b`,
  )
  const updated = Number(matched)
  return { added: Number(added) - updated, updated, removed: deleteMissing ? Number(all) - updated : 0 }
}

async function repeatedIds(database: DuckDb, key: string, count: number, file: string): Promise<SourceError> {
  const name = quoteName(key)
  const [ids] = await valuesOf(
    database,
    `SELECT list(id) FROM (SELECT ${name}::VARCHAR AS id FROM d WHERE ${name} IN (SELECT ${name} FROM b) ORDER BY 1 LIMIT ${LISTED_IDS})`,
  )
  const examples = (ids as string[]).map((id) => JSON.stringify(id.slice(0, 80))).join(', ')
  return new SourceError(
    `${file} has ${count} ${count === 1 ? 'id' : 'ids'} that the dataset has already: ${examples}${count > LISTED_IDS ? ' and more' : ''}. Use --update to replace these features.`,
  )
}

async function valuesOf(database: DuckDb, sql: string): Promise<unknown[]> {
  const [row] = (await database.connection.runAndReadAll(sql)).getRowsJS()
  return row!
}

/** Reads the merged rows, with the numbers and ids that they had before. */
export async function openMerged(
  path: string,
  file: string,
  { key, columns, options }: Pick<Merge, 'key' | 'columns' | 'options'>,
): Promise<FeatureStream> {
  const stream = await openParquet(path, file, {
    // Its rows were bounded when they were read the first time.
    limits: { ...limitsOf(options.limits), compressionRatio: Infinity, columns: Infinity },
    coordinates: columns.isSpatial ? {} : { geometry: false },
    databaseMegabytes: divideMemory(options.memoryMegabytes).database,
    isInspected: true,
  })
  const extra = key.kind === 'source' ? 2 : 1
  const restore = (feature: Feature | UnreadableRow): Feature | UnreadableRow => {
    if (isUnreadable(feature)) throw new Error(`a merged row cannot be read: ${feature.problem}`)
    const [row, id] = feature.values
    return {
      id: extra === 2 ? (id as Feature['id']) : null,
      row: Number(row),
      values: feature.values.slice(extra),
      geometry: feature.geometry,
    }
  }
  return {
    columns: stream.columns.slice(extra).map(({ name, type }) => ({ name, type })),
    spatial: columns.isSpatial,
    crs: columns.isSpatial ? 'OGC:CRS84' : null,
    notes: [],
    get bytesRead() {
      return stream.bytesRead
    },
    totalBytes: stream.totalBytes,
    async *batches() {
      for await (const batch of stream.batches()) yield batch.map(restore)
    },
  }
}
