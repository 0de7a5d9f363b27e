import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { BoundedCache } from '@wayleave/geodata/base'
import { parquetSql, quoteName, type Snapshot } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { QueryError } from '../query-error.ts'
import { FairQueue } from '../work/fair-queue.ts'
import type { TimedWork } from '../work/timed-work.ts'
import {
  DuckdbCache,
  type DuckdbSource,
  isWanted,
  originalName,
  type Questions,
  refuse,
  selectSql,
} from './duckdb-cache.ts'
import type { PositionedTexts, QueryValue } from './query-messages.ts'
import { QueryMemoryError, type QueryRows, QueryRunner } from './query-runner.ts'

/** Max memory of a query process, in megabytes, and the shares of it for DuckDB and for kept columns. */
const MEGABYTES = 512
const DATABASE_SHARE = 0.7
const KEPT_SHARE = 0.25
/** A process that still has this share of its memory after a query is replaced: the next query needs the rest. */
const WORN_SHARE = 0.7
const MAX_WAIT_MS = 3000
const MAX_QUESTIONS = 1000
/** Max duration of filling a cache, in ms. */
const FILL_MS = 20_000

/** See docs/decisions/duckdb-for-filters.md. */
export interface DuckdbQueriesOptions {
  /**
   * Throws if the snapshot's rows are damaged. DuckDB reads a file without verifying it, so this is called
   * before every query.
   */
  requireRows?: (snapshot: Snapshot) => Promise<unknown>
  /** Max memory of a query process, in megabytes. */
  megabytes?: number
  /** Max processes; by default half of the cores, 2 to 4. */
  processes?: number | undefined
  /** Max time that a query waits for a process, in ms. */
  maxWaitMs?: number
  /** Is told what went wrong in the background. */
  log?: QueryLog
  /** Runs a query as a span of a trace. */
  trace?: TraceQuery
}

export interface QueryLog {
  warn(details: object, message: string): void
}

export type TraceQuery = <T>(
  name: string,
  work: () => T,
  attributes: Record<string, string | number | boolean>,
) => T

/** A process, and the columns that it keeps in memory. */
interface Session {
  runner: QueryRunner
  cache: DuckdbCache
}

/**
 * Runs DuckDB queries on the rows of snapshots, in child processes: their memory can be measured and they can be
 * killed, which is the only limit that holds for every query. Each process runs one query at a time, can only
 * access the snapshots folder, and is started when it is first needed. Owners take turns, and one owner never
 * has all processes.
 */
export class DuckdbQueries {
  readonly #folder: string
  readonly #log: QueryLog | undefined
  readonly #trace: TraceQuery
  readonly #requireRows: (snapshot: Snapshot) => Promise<unknown>
  readonly #megabytes: number
  readonly #queue: FairQueue
  /** Sessions without a query. */
  readonly #idle: Session[] = []
  readonly #sessions = new Set<Session>()
  readonly #questions: Questions = new BoundedCache(MAX_QUESTIONS)
  #filling: Promise<void> | null = null
  readonly #closing = new AbortController()

  /** `folder` is the snapshots folder. */
  constructor(folder: string, options: DuckdbQueriesOptions = {}) {
    this.#folder = folder
    this.#requireRows = options.requireRows ?? (async () => {})
    this.#megabytes = options.megabytes ?? MEGABYTES
    this.#log = options.log
    this.#trace = options.trace ?? ((_name, work) => work())
    const capacity = options.processes ?? Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2)))
    this.#queue = new FairQueue({
      capacity,
      share: Math.max(1, capacity - 1),
      maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
      limit: 'queries',
    })
  }

  /** The queue for processes. */
  get queue(): Pick<FairQueue, 'waiting' | 'saturation'> {
    return this.#queue
  }

  /** How many queries wait for a process. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /** The process ids of the processes, for measurements. */
  get processes(): number[] {
    return Array.from(this.#sessions, ({ runner }) => runner.pid ?? 0)
  }

  /**
   * The first column of a query's result, which contains positions. `sql` gets the table to read from, which
   * has the source's columns and `file_row_number`, with its rows in the order of the latter.
   */
  positions(
    source: DuckdbSource,
    sql: (table: string) => string,
    values: QueryValue[],
    work: TimedWork,
  ): Promise<Uint32Array> {
    return this.#query(source, sql, work, (runner, text) => runner.positions(text, values, work.signal))
  }

  /** The same for a query whose result is a few rows of texts. */
  texts(
    source: DuckdbSource,
    sql: (table: string) => string,
    values: QueryValue[],
    work: TimedWork,
  ): Promise<QueryRows> {
    return this.#query(source, sql, work, (runner, text) => runner.rows(text, values, work.signal))
  }

  /** The texts of many positions: the query's result has two columns, a position and a text that is not null. */
  textsAt(
    source: DuckdbSource,
    sql: (table: string) => string,
    values: QueryValue[],
    work: TimedWork,
  ): Promise<PositionedTexts> {
    return this.#query(source, sql, work, (runner, text) => runner.textsAt(text, values, work.signal))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#filling
    await Promise.all(Array.from(this.#sessions, ({ runner }) => runner.close()))
  }

  async #query<T>(
    source: DuckdbSource,
    sql: (table: string) => string,
    work: TimedWork,
    read: (runner: QueryRunner, sql: string) => Promise<T>,
  ): Promise<T> {
    await this.#requireRows(source.snapshot)
    const slot = await this.#queue.acquire(work.owner, 1, work.signal)
    let isFromFile = true
    try {
      const session = this.#take(source)
      try {
        const cachedRows = session.cache.find(source)
        isFromFile = cachedRows === null
        const text = sql(cachedRows?.table ?? `(${selectSql(source.columns, rowsFile(source))})`)
        return await this.#trace('duckdb', () => read(session.runner, text), {
          'db.system.name': 'duckdb',
          'wayleave.rows_in_memory': !isFromFile,
        })
      } finally {
        await this.#release(session)
      }
    } catch (error) {
      if (isOutOfMemory(error)) throw tooMuchMemory(this.#megabytes)
      throw error
    } finally {
      slot.release()
      // A client that has disconnected causes no further work.
      const isAwaited = !work.signal.aborted
      if (isFromFile && isAwaited && isWanted(this.#questions, source))
        this.#filling ??= this.#fill(source, work.owner)
    }
  }

  /** A session without a query: one that has the source's columns in memory if there is one. */
  #take(source: DuckdbSource): Session {
    for (let i = this.#idle.length - 1; i >= 0; i--) {
      if (this.#idle[i]!.runner.hasEnded) this.#sessions.delete(this.#idle.splice(i, 1)[0]!)
    }
    const at = this.#idle.findIndex(({ cache }) => cache.find(source) !== null)
    const [idle] = this.#idle.splice(Math.max(0, at), 1)
    return idle ?? this.#open()
  }

  #open(): Session {
    const runner = new QueryRunner({
      folder: this.#folder,
      threads: Math.min(4, Math.max(2, availableParallelism())),
      databaseMegabytes: Math.floor(this.#megabytes * DATABASE_SHARE),
      maxMegabytes: this.#megabytes,
      wornMegabytes: this.#megabytes * WORN_SHARE,
    })
    const cache = new DuckdbCache(this.#megabytes * KEPT_SHARE * 1e6, this.#questions, async (sql) => {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(FILL_MS)])
      return (await runner.rows(sql, [], signal))[0]?.[0]
    })
    const session = { runner, cache }
    this.#sessions.add(session)
    return session
  }

  /** A session whose process has ended, or has kept too much memory, is not used again. */
  async #release(session: Session): Promise<void> {
    if (session.runner.isWorn) await session.runner.close()
    if (session.runner.hasEnded) this.#sessions.delete(session)
    else this.#idle.push(session)
  }

  /** Runs in the background. If it fails, queries continue to read the file. */
  async #fill(source: DuckdbSource, owner: string): Promise<void> {
    try {
      const slot = await this.#queue.acquire(owner, 1, this.#closing.signal)
      try {
        const session = this.#take(source)
        try {
          await session.cache.fill(source, rowsFile(source))
        } finally {
          await this.#release(session)
        }
      } finally {
        slot.release()
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#log?.warn(
          { err: error },
          'Columns could not be kept in memory; filters go on reading the file.',
        )
      }
      refuse(this.#questions, source)
    } finally {
      this.#filling = null
    }
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof QueryMemoryError || /^Out of Memory/i.test((error as Error).message)
}

function tooMuchMemory(megabytes: number): QueryError {
  return new QueryError(
    'invalid-filter',
    `The filter or the order needs more than the ${megabytes} MB of memory that a query may have. Ask in a box or page by cursor.`,
    { limit: 'query-memory' },
  )
}

/**
 * The rows of a snapshot as an SQL table, with `file_row_number`, which is the position. Ids that are row
 * numbers are in a file of their own, so that the GeoParquet download does not have them.
 */
function rowsFile({ snapshot: { folder, manifest }, columns }: DuckdbSource): string {
  const rows = parquetSql(join(folder, SNAPSHOT_FILES.rows), 'file_row_number = true')
  const { name, isRowNumber } = manifest.id
  if (!isRowNumber || name === undefined || !columns.has(name)) return rows
  const own = new Set(columns.keys().map(originalName))
  own.delete(name)
  const list = ['r.file_row_number', ...[...own].map((column) => `r.${quoteName(column)}`)]
  const ids = parquetSql(join(folder, SNAPSHOT_FILES.ids))
  return `(SELECT ${list.join(', ')}, i.id AS ${quoteName(name)} FROM ${rows} r POSITIONAL JOIN ${ids} i)`
}
