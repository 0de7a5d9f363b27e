import type { BoundedCache } from '@wayleave/geodata/base'
import { quoteName, type Snapshot } from '@wayleave/geodata/features'
import { queryColumns } from '@wayleave/geodata/snapshot'

/** Smaller snapshots are not cached: reading their files is as fast. */
const MIN_ROWS = 20_000
const QUESTIONS_BETWEEN = 8
const QUESTIONS_AFTER_FAILURE = 100

/**
 * What a query reads from a snapshot: columns by name, each with the SQL that computes it from the file's
 * columns.
 *
 * See docs/decisions/duckdb-for-filters.md.
 */
export interface DuckdbSource {
  snapshot: Snapshot
  columns: ReadonlyMap<string, string>
}

/** Columns of a snapshot in an in-memory table of the database. */
export interface KeptColumns {
  folder: string
  table: string
  columns: ReadonlyMap<string, string>
  bytes: number
}

/** Runs a statement and returns the first value of its result. */
export type RunSql = (sql: string) => Promise<unknown>

/** How often sets of columns were read from the file, by what identifies them. */
export type Questions = BoundedCache<string, number>

/**
 * Counts a query that was served from the file, and returns whether its columns should be cached now. `questions`
 * outlives the cache, so that columns that were too large for one process are not tried in the next one.
 */
export function isWanted(questions: Questions, source: DuckdbSource): boolean {
  const { snapshot, columns } = source
  if (snapshot.manifest.rows < MIN_ROWS || columns.size === 0 || !canBeKept(source)) return false
  const key = questionKey(source)
  const count = (questions.get(key) ?? 0) + 1
  questions.set(key, count)
  return count > 1
}

/** Columns that could not be cached are not retried soon. */
export function refuse(questions: Questions, source: DuckdbSource): void {
  questions.set(questionKey(source), -QUESTIONS_AFTER_FAILURE)
}

/**
 * An in-memory LRU cache of columns that features were filtered or sorted by: decompressing a text column
 * takes ten times as long as comparing it, and folding it takes a hundred times as long. Columns that were
 * requested together twice become a table, which also serves queries for some of them.
 */
export class DuckdbCache {
  readonly #maxBytes: number
  readonly #run: RunSql
  /** In LRU order, least recently used first. */
  readonly #entries = new Set<KeptColumns>()
  readonly #questions: Questions
  #bytes = 0
  #tables = 0

  constructor(maxBytes: number, questions: Questions, run: RunSql) {
    this.#maxBytes = maxBytes
    this.#questions = questions
    this.#run = run
  }

  /** A table that has all required columns, or null. */
  find({ snapshot: { folder }, columns }: DuckdbSource): KeptColumns | null {
    if (columns.size === 0) return null
    for (const entry of this.#entries) {
      if (entry.folder !== folder || !columns.keys().every((name) => entry.columns.has(name))) continue
      this.#entries.delete(entry)
      this.#entries.add(entry)
      return entry
    }
    return null
  }

  /**
   * Caches the source's columns. `file` is the snapshot's rows as an SQL table. Must not run concurrently
   * with itself
   * or with a query.
   */
  async fill(source: DuckdbSource, file: string): Promise<void> {
    const { snapshot, columns } = source
    const bytes = await this.#sizeOf(snapshot, columns, file)
    if (bytes > this.#maxBytes) {
      this.#questions.set(questionKey(source), -Infinity)
      return
    }
    for (const oldest of [...this.#entries])
      if (this.#bytes + bytes > this.#maxBytes) await this.#drop(oldest)
    const table = `kept_${++this.#tables}`
    await this.#run(`CREATE TABLE ${table} AS ${selectSql(columns, file)}`)
    this.#entries.add({ folder: snapshot.folder, table, columns, bytes })
    this.#bytes += bytes
    // If there is no room for everything that is requested in turn, refilling each time (thrashing) would
    // cost more than it saves.
    this.#questions.set(questionKey(source), -QUESTIONS_BETWEEN)
  }

  /** An estimate: texts by their length, plus the database's overhead per value. */
  async #sizeOf({ manifest }: Snapshot, columns: ReadonlyMap<string, string>, file: string): Promise<number> {
    let width = 8
    const texts: string[] = []
    for (const name of columns.keys()) {
      const original = originalName(name)
      const type = queryColumns(manifest).find((column) => column.name === original)?.type
      width += type === 'integer' ? 16 : type === 'boolean' ? 1 : 8
      if (type === 'text') texts.push(`coalesce(sum(strlen(${quoteName(original)})), 0)`)
    }
    const length =
      texts.length === 0 ? 0 : Number(await this.#run(`SELECT ${texts.join(' + ')} FROM ${file}`))
    return (width * manifest.rows + length) * 1.5
  }

  async #drop(entry: KeptColumns): Promise<void> {
    this.#entries.delete(entry)
    this.#bytes -= entry.bytes
    await this.#run(`DROP TABLE ${entry.table}`)
  }
}

/**
 * Selects the columns and `file_row_number`, which is the position. DuckDB would compute a derived column again
 * for each condition that reads it, with the memory of its intermediate results for each. It never does so with
 * an expression that could have another value the next time, such as one with a random number.
 */
export function selectSql(columns: ReadonlyMap<string, string>, file: string): string {
  const list = Array.from(columns, ([name, sql]) => {
    const isDerived = name !== originalName(name)
    return `${isDerived ? `CASE WHEN random() < 2 THEN ${sql} END` : sql} AS ${quoteName(name)}`
  })
  return `SELECT ${['file_row_number', ...list].join(', ')} FROM ${file}`
}

/** Geometries and nested values are not cached: they are too large for the benefit. */
function canBeKept({ snapshot: { manifest }, columns }: DuckdbSource): boolean {
  return columns.keys().every((name) => {
    const original = originalName(name)
    return queryColumns(manifest).some((column) => column.name === original && column.type !== 'json')
  })
}

/** The column that a derived column is computed from: the part of its name after the last line break. */
export function originalName(name: string): string {
  return name.slice(name.lastIndexOf('\n') + 1)
}

function questionKey({ snapshot: { folder }, columns }: DuckdbSource): string {
  return [folder, ...columns.keys()].join('\0')
}
