import { quoteName } from '@wayleave/geodata/quote-sql.ts'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'

/** Smaller snapshots are read from their files as quickly. */
const LEAST_ROWS = 20_000
const MOST_QUESTIONS = 1000
const QUESTIONS_BETWEEN = 8
const QUESTIONS_AFTER_FAILURE = 100

/** What a query reads of a snapshot: columns by name, each with the SQL that makes it of the file's. */
export interface RowSource {
  snapshot: Snapshot
  columns: ReadonlyMap<string, string>
}

/** Columns of a snapshot in a table of the database's memory. */
export interface KeptRows {
  folder: string
  table: string
  columns: ReadonlyMap<string, string>
  bytes: number
  readers: number
  isLeaving: boolean
}

/** Runs a statement and answers the first value of its result. */
export type RunSql = (sql: string) => Promise<unknown>

/**
 * Columns by which features were filtered or sorted before, in memory: to unpack a column of text takes ten
 * times as long as to compare it, and to fold it a hundred times. Columns that were asked for together twice
 * are a table, and answer whoever asks for some of them; the table that was not read for longest leaves first.
 */
export class RowCache {
  readonly #maxBytes: number
  readonly #run: RunSql
  /** The first was not read for longest. */
  readonly #kept = new Set<KeptRows>()
  readonly #questions = new Map<string, number>()
  #bytes = 0
  #tables = 0

  constructor(maxBytes: number, run: RunSql) {
    this.#maxBytes = maxBytes
    this.#run = run
  }

  /** A table that has all that is read, or null. It stays until it is given back. */
  borrow({ snapshot: { folder }, columns }: RowSource): KeptRows | null {
    if (columns.size === 0) return null
    for (const kept of this.#kept) {
      if (kept.folder !== folder || !columns.keys().every((name) => kept.columns.has(name))) continue
      this.#kept.delete(kept)
      this.#kept.add(kept)
      kept.readers++
      return kept
    }
    return null
  }

  async giveBack(kept: KeptRows): Promise<void> {
    kept.readers--
    if (kept.isLeaving && kept.readers === 0) await this.#dropTable(kept)
  }

  /** Counts a question that was answered from the file, and answers whether its columns should be kept now. */
  isWanted(source: RowSource): boolean {
    const { snapshot, columns } = source
    if (snapshot.manifest.rows < LEAST_ROWS || columns.size === 0 || !canBeKept(source)) return false
    const key = questionKey(source)
    const asked = (this.#questions.get(key) ?? 0) + 1
    if (this.#questions.size >= MOST_QUESTIONS) this.#questions.clear()
    this.#questions.set(key, asked)
    return asked > 1
  }

  /** `file` is the snapshot's rows as a table. One filling at a time. */
  async fill(source: RowSource, file: string): Promise<void> {
    const { snapshot, columns } = source
    const bytes = await this.#sizeOf(snapshot, columns, file)
    if (bytes > this.#maxBytes) {
      this.#questions.set(questionKey(source), -Infinity)
      return
    }
    for (const oldest of [...this.#kept]) if (this.#bytes + bytes > this.#maxBytes) await this.#drop(oldest)
    const table = `kept_${++this.#tables}`
    await this.#run(`CREATE TABLE ${table} AS ${selectSql(columns, file)}`)
    this.#kept.add({ folder: snapshot.folder, table, columns, bytes, readers: 0, isLeaving: false })
    this.#bytes += bytes
    // Where there is no room for all that is asked for in turn, filling again and again would cost more than it spares.
    this.#questions.set(questionKey(source), -QUESTIONS_BETWEEN)
  }

  /** What could not be kept is not tried again soon. */
  refuse(source: RowSource): void {
    this.#questions.set(questionKey(source), -QUESTIONS_AFTER_FAILURE)
  }

  /** About: texts by their length, and what the database needs around the values. */
  async #sizeOf({ manifest }: Snapshot, columns: ReadonlyMap<string, string>, file: string): Promise<number> {
    let width = 8
    const texts: string[] = []
    for (const name of columns.keys()) {
      const original = originalName(name)
      const type = manifest.columns.find((column) => column.name === original)?.type
      width += type === 'integer' ? 16 : type === 'boolean' ? 1 : 8
      if (type === 'text') texts.push(`coalesce(sum(strlen(${quoteName(original)})), 0)`)
    }
    const length =
      texts.length === 0 ? 0 : Number(await this.#run(`SELECT ${texts.join(' + ')} FROM ${file}`))
    return (width * manifest.rows + length) * 1.5
  }

  async #drop(kept: KeptRows): Promise<void> {
    this.#kept.delete(kept)
    this.#bytes -= kept.bytes
    kept.isLeaving = true
    if (kept.readers === 0) await this.#dropTable(kept)
  }

  async #dropTable({ table }: KeptRows): Promise<void> {
    await this.#run(`DROP TABLE ${table}`)
  }
}

/** The columns and `file_row_number`, which is the position. */
export function selectSql(columns: ReadonlyMap<string, string>, file: string): string {
  const list = Array.from(columns, ([name, sql]) => `${sql} AS ${quoteName(name)}`)
  return `SELECT ${['file_row_number', ...list].join(', ')} FROM ${file}`
}

/** Geometries and nested values are too large for what is asked of them here. */
function canBeKept({ snapshot: { manifest }, columns }: RowSource): boolean {
  return columns.keys().every((name) => {
    const original = originalName(name)
    return manifest.columns.some((column) => column.name === original && column.type !== 'json')
  })
}

/** The column that a derived one is made of: its name is what follows the last line break. */
function originalName(name: string): string {
  return name.slice(name.lastIndexOf('\n') + 1)
}

function questionKey({ snapshot: { folder }, columns }: RowSource): string {
  return [folder, ...columns.keys()].join('\0')
}
