import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import { openDuckDb, quoteName, quoteText, type Snapshot } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import { Problem } from '../../problem.ts'
import { originalName, RowCache, type RowSource, selectSql } from './row-cache.ts'

/** Max concurrent queries. Each query uses several threads already; more would only delay all of them. */
const SESSIONS = 2
const MAX_WAITING = 256
const MEMORY = '768MB'
const KEPT_BYTES = 256 << 20
/** Max duration of a query, in ms. A slower query blocks others, and clients do not wait that long. */
const MAX_MS = 20_000
export const TOO_LONG =
  'The filter takes too long on this collection. Ask for less in one filter, or in a box.'
const TOO_MUCH =
  'The filter or the order needs more memory than a query may have. Ask in a box or page by cursor.'

/** See docs/decisions/duckdb-for-filters.md. */
export interface RowQueriesOptions {
  /**
   * Throws if the snapshot's rows are damaged. DuckDB reads a file without verifying it, so this is called
   * before every query.
   */
  requireRows?: (snapshot: Snapshot) => Promise<unknown>
  /** Max duration of a query, in ms. */
  maxMs?: number
  log?: Logger
}

/**
 * Runs in-process DuckDB queries on the rows of snapshots. Sessions can only access the snapshots folder, and
 * a query cannot change their configuration. At most two queries run at once, because they occupy the threads
 * that file reads need too.
 */
export class RowQueries {
  readonly #folder: string
  readonly #log: Logger | undefined
  readonly #maxMs: number
  readonly #requireRows: (snapshot: Snapshot) => Promise<unknown>
  #opening: Promise<DuckDBInstance> | null = null
  readonly #idle: DuckDBConnection[] = []
  readonly #waiting: (() => void)[] = []
  readonly #cache = new RowCache(KEPT_BYTES, (sql) => this.#runAside(sql))
  #filling: Promise<void> | null = null
  #running = 0

  /** `folder` is the snapshots folder. */
  constructor(folder: string, { requireRows = async () => {}, maxMs = MAX_MS, log }: RowQueriesOptions = {}) {
    this.#folder = folder
    this.#requireRows = requireRows
    this.#maxMs = maxMs
    this.#log = log
  }

  /**
   * Opens the database and its sessions before the first query. A server does so at startup: if the process
   * ran out of file descriptors later, opening would abort it inside DuckDB.
   */
  async open(): Promise<void> {
    while (this.#idle.length < SESSIONS) this.#idle.push(await this.#connect())
  }

  /**
   * The first column of a query's result, which contains positions. `sql` gets the table to read from, which
   * has the source's columns and `file_row_number`, with its rows in the order of the latter. An aborted
   * query is interrupted.
   */
  async positions(
    source: RowSource,
    sql: (table: string) => string,
    values: DuckDBValue[],
    signal: AbortSignal,
  ): Promise<Uint32Array> {
    return this.#query(source, sql, values, signal, readPositions)
  }

  /** The same for a query whose result is a few rows of texts. */
  async texts(
    source: RowSource,
    sql: (table: string) => string,
    values: DuckDBValue[],
    signal: AbortSignal,
  ): Promise<(string | null)[][]> {
    return this.#query(source, sql, values, signal, async (connection, text, bound) => {
      return (await connection.runAndReadAll(text, bound)).getRows() as (string | null)[][]
    })
  }

  async #query<T>(
    source: RowSource,
    sql: (table: string) => string,
    values: DuckDBValue[],
    signal: AbortSignal,
    read: (connection: DuckDBConnection, sql: string, values: DuckDBValue[]) => Promise<T>,
  ): Promise<T> {
    await this.#requireRows(source.snapshot)
    await this.#enter(signal)
    const kept = this.#cache.borrow(source)
    let isLate = false
    try {
      const connection = this.#idle.pop() ?? (await this.#connect())
      // The client may have disconnected while the connection was opened; no further `abort` event is emitted
      // for that.
      if (signal.aborted) {
        this.#idle.push(connection)
        signal.throwIfAborted()
      }
      // An interrupt between two steps of a query has no effect, so it is repeated until the query has ended.
      let interrupting: NodeJS.Timeout | undefined
      const interrupt = () => {
        interrupting ??= setInterval(() => connection.interrupt(), 20)
        connection.interrupt()
      }
      signal.addEventListener('abort', interrupt)
      const timer = setTimeout(() => {
        isLate = true
        interrupt()
      }, this.#maxMs)
      try {
        const table = kept?.table ?? `(${selectSql(source.columns, rowsFile(source))})`
        return await read(connection, sql(table), values)
      } finally {
        clearTimeout(timer)
        clearInterval(interrupting)
        signal.removeEventListener('abort', interrupt)
        this.#idle.push(connection)
      }
    } catch (error) {
      signal.throwIfAborted()
      if (isLate) throw new Problem('invalid-filter', TOO_LONG)
      if (/^Out of Memory/i.test((error as Error).message)) throw new Problem('invalid-filter', TOO_MUCH)
      throw error
    } finally {
      if (kept) await this.#cache.release(kept)
      this.#leave()
      if (!kept && this.#cache.isWanted(source)) this.#filling ??= this.#fill(source)
    }
  }

  /**
   * Runs in the background. If it fails for lack of memory, or because too many queries are waiting, queries
   * continue to read the file.
   */
  async #fill(source: RowSource): Promise<void> {
    try {
      await this.#enter(NEVER)
      try {
        await this.#cache.fill(source, rowsFile(source))
      } finally {
        this.#leave()
      }
    } catch (error) {
      this.#log?.warn({ err: error }, 'Columns could not be kept in memory; filters go on reading the file.')
      this.#cache.refuse(source)
    } finally {
      this.#filling = null
    }
  }

  async #runAside(sql: string): Promise<unknown> {
    const connection = this.#idle.pop() ?? (await this.#connect())
    try {
      return (await connection.runAndReadAll(sql)).getRows()[0]?.[0]
    } finally {
      this.#idle.push(connection)
    }
  }

  async close(): Promise<void> {
    await this.#filling
    for (const connection of this.#idle) connection.closeSync()
    this.#idle.length = 0
    const instance = await this.#opening
    this.#opening = null
    instance?.closeSync()
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < SESSIONS) {
      this.#running++
      return
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Problem('overloaded', undefined, { headers: { 'retry-after': '2' } })
    }
    // A query that finishes passes its slot on to the next one in the queue.
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (!signal.aborted) return
    this.#leave()
    signal.throwIfAborted()
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }

  async #connect(): Promise<DuckDBConnection> {
    this.#opening ??= openInstance(this.#folder).catch((error: unknown) => {
      // The next query retries.
      this.#opening = null
      throw error
    })
    return (await this.#opening).connect()
  }
}

async function openInstance(folder: string): Promise<DuckDBInstance> {
  const { instance, connection } = await openDuckDb({
    threads: Math.min(4, Math.max(2, availableParallelism())),
    memoryLimit: MEMORY,
    folders: [folder],
    settings: ['SET parquet_metadata_cache = true'],
  })
  connection.closeSync()
  return instance
}

async function readPositions(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[],
): Promise<Uint32Array> {
  const result = await connection.run(sql, values)
  let positions = new Uint32Array(1024)
  let count = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) break
    if (count + chunk.rowCount > positions.length) {
      const larger = new Uint32Array(Math.max(positions.length * 2, count + chunk.rowCount))
      larger.set(positions)
      positions = larger
    }
    const column = chunk.getColumnVector(0)
    for (let i = 0; i < chunk.rowCount; i++) positions[count++] = Number(column.getItem(i))
  }
  return positions.subarray(0, count)
}

/**
 * The rows of a snapshot as an SQL table, with `file_row_number`, which is the position. Ids that are row
 * numbers are in a file of their own, so that the GeoParquet download does not have them.
 */
function rowsFile({ snapshot: { folder, manifest }, columns }: RowSource): string {
  const rows = `read_parquet(${quoteText(join(folder, SNAPSHOT_FILES.rows))}, file_row_number = true)`
  const { name, isRowNumber } = manifest.id
  if (!isRowNumber || name === undefined || !columns.has(name)) return rows
  const own = new Set(columns.keys().map(originalName))
  own.delete(name)
  const list = ['r.file_row_number', ...[...own].map((column) => `r.${quoteName(column)}`)]
  const ids = `read_parquet(${quoteText(join(folder, SNAPSHOT_FILES.ids))})`
  return `(SELECT ${list.join(', ')}, i.id AS ${quoteName(name)} FROM ${rows} r POSITIONAL JOIN ${ids} i)`
}

const NEVER = new AbortController().signal
