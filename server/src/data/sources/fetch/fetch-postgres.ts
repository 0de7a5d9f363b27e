import { join } from 'node:path'
import { SourceError } from '@wayleave/geodata/compile'
import { type PgcopyHeader, pgcopyHeader } from '@wayleave/geodata/pgcopy'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'
import { type CopiedColumn, copiedColumns, type QueryColumn, quoted } from './postgres-columns.ts'
import { asSourceError, connectPostgres, type PostgresConnection } from './postgres-connection.ts'
import { SourceFile } from './source-file.ts'
import { withRetries } from './source-http.ts'

/** What is read of a database: a table or view, or the result of a query. */
export interface PostgresChoice {
  /** `table` or `schema.table`. */
  sourceTable?: string | undefined
  query?: string | undefined
  /** Which geometry, if there are several. */
  geometryColumn?: string | undefined
}

/**
 * Copies the rows of a table or query in one read-only transaction, which sees one state of the database. They are
 * streamed to the file as the database sends them; compiling parses them later, in its sandbox.
 */
export async function fetchPostgres(
  address: string,
  choice: PostgresChoice,
  options: FetchOptions,
): Promise<FetchedSource> {
  const source = selected(choice)
  const connection = await withRetries(options.signal, () => connectPostgres(address, options))
  try {
    return await Promise.race([copy(connection, source, choice, options), connection.lost])
  } catch (error) {
    options.signal.throwIfAborted()
    throw asSourceError(error)
  } finally {
    connection.close()
  }
}

async function copy(
  connection: PostgresConnection,
  source: string,
  choice: PostgresChoice,
  options: FetchOptions,
): Promise<FetchedSource> {
  const { client } = connection
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  // Even if this process dies, the database ends the statement after this time.
  const limit = Math.ceil(options.limits.totalMs)
  await client.query(
    `SET LOCAL statement_timeout = ${limit}; SET LOCAL idle_in_transaction_session_timeout = ${limit}`,
  )
  const described = await describe(client, source)
  const { columns, geometry } = copiedColumns(described, choice.geometryColumn)
  const srid = geometry && (await sridOf(client, source, geometry))
  const header: PgcopyHeader = {
    columns: columns.map(({ name, kind }) => ({ name, kind })),
    srid,
    crs: srid === null ? null : await crsOf(client, srid),
  }
  const file = await SourceFile.create(join(options.folder, 'source'), options)
  const name = choice.sourceTable?.replace(/^.*\./, '') ?? 'query'
  const fetched = { path: file.path, file: `${name}.pgcopy` }
  try {
    await file.write(pgcopyHeader(header))
    options.onBegin?.(fetched)
    const rows = client.query(copyTo(`COPY (${selection(columns)} FROM ${source}) TO STDOUT (FORMAT binary)`))
    for await (const chunk of rows as AsyncIterable<Buffer>) {
      options.received(chunk.length)
      connection.copiedBytes += chunk.length
      await file.write(chunk)
    }
    await client.query('COMMIT')
    const validators = { etag: null, lastModified: null, checksum: file.checksum() }
    return { ...fetched, bytes: file.bytes, validators }
  } finally {
    await file.close()
  }
}

function selected({ sourceTable, query }: PostgresChoice): string {
  if ((sourceTable === undefined) === (query === undefined))
    throw new SourceError('Give either the table of the database (--source-table) or a query (--query).')
  if (query !== undefined) return `(${query.replace(/;\s*$/, '')}\n) AS source`
  const parts = sourceTable!.split('.')
  if (parts.length > 2 || parts.includes(''))
    throw new SourceError('A table is named as table or as schema.table.')
  return `${parts.map(quoted).join('.')} AS source`
}

/**
 * The columns of the query. The extended protocol takes one statement only, so that what is copied afterwards is
 * known to be a query.
 */
async function describe(client: pg.Client, source: string): Promise<QueryColumn[]> {
  const { fields } = await client.query({
    text: `SELECT * FROM ${source} LIMIT $1`,
    values: [0],
    rowMode: 'array',
  })
  const { rows } = await client.query<{ oid: number; type: string; category: string }>(
    `SELECT t.oid::int8::int AS oid, coalesce(b.typname, t.typname) AS type, t.typcategory AS category
       FROM pg_type t LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0)
      WHERE t.oid = ANY($1::int8[]::oid[])`,
    [fields.map(({ dataTypeID }) => dataTypeID)],
  )
  const types = new Map(rows.map((row) => [row.oid, row]))
  return fields.map(({ name, dataTypeID, dataTypeModifier }) => {
    const { type, category } = types.get(dataTypeID)!
    return { name, type, category, modifier: dataTypeModifier }
  })
}

function selection(columns: readonly CopiedColumn[]): string {
  return `SELECT ${columns.map(({ sql }, i) => `${sql} AS c${i}`).join(', ')}`
}

/** The SRID that the type states or, if it states none, that of the first geometry. */
async function sridOf(
  client: pg.Client,
  source: string,
  { name, modifier, type }: QueryColumn,
): Promise<number> {
  if (modifier > 0) {
    const { rows } = await client.query<{ srid: number }>('SELECT postgis_typmod_srid($1) AS srid', [
      modifier,
    ])
    if (rows[0]!.srid > 0) return rows[0]!.srid
  }
  if (type === 'geography') return 4326
  const column = quoted(name)
  const { rows } = await client.query<{ srid: number }>(
    `SELECT ST_SRID(${column}) AS srid FROM ${source} WHERE ${column} IS NOT NULL LIMIT 1`,
  )
  return rows[0]?.srid ?? 0
}

/** Null if the database does not know the SRID: the publisher states the CRS then. */
async function crsOf(client: pg.Client, srid: number): Promise<string | null> {
  if (srid === 0) return null
  const { rows } = await client.query<{ authority: string | null; code: number | null; wkt: string | null }>(
    'SELECT auth_name AS authority, auth_srid AS code, srtext AS wkt FROM spatial_ref_sys WHERE srid = $1',
    [srid],
  )
  const known = rows[0]
  if (!known) return null
  return known.authority === 'EPSG' ? `EPSG:${known.code}` : known.wkt
}
