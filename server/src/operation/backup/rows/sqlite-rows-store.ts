import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { fromSqlite } from '../../../base/database/database-error.ts'
import { CopyError } from '../copy-error.ts'
import type { Row, RowReader, RowWriter } from './row-database.ts'
import { latestSchemaVersion, schemaStatements, type TableShape } from './table-shapes-store.ts'

const BATCH_ROWS = 1000
/** In characters. A row of `versions` holds a whole manifest: a thousand of those are too large a batch. */
const BATCH_CHARACTERS = 4_000_000

export function sqliteFile(dataDir: string): string {
  return join(dataDir, 'wayleave.db')
}

/**
 * Reads in one read transaction. In WAL mode that neither waits for writers nor blocks them, and it always
 * finishes; SQLite's online backup API starts over whenever another connection writes. The downside is that
 * the WAL file cannot be checkpointed and truncated until the read ends. `exclusive` locks out all other
 * writers instead.
 */
export async function openSqliteReader(
  file: string,
  { exclusive = false }: { exclusive?: boolean } = {},
): Promise<RowReader> {
  if (!existsSync(file)) throw new CopyError(`There is no control database at ${file}.`)
  const database = new DatabaseSync(file, { timeout: 10_000 })
  try {
    if (exclusive) database.exec('begin immediate')
    else database.exec('pragma query_only = on; begin')
    // The transaction's snapshot begins with its first read.
    const schemaVersion = readSchemaVersion(database, file)
    return {
      kind: 'sqlite',
      schemaVersion,
      rows: (shape) => readRows(database, shape),
      close: async () => database.close(),
    }
  } catch (error) {
    database.close()
    throw fromSqlite(error as Error, file)
  }
}

/** Creates a new database file at the given schema version. The caller renames the file after the commit. */
export async function openSqliteWriter(file: string, schemaVersion: number): Promise<RowWriter> {
  if (existsSync(file)) throw new CopyError(`${file} exists already.`)
  const database = new DatabaseSync(file)
  // Rows arrive table by table; `complete` checks all foreign keys once, which is faster than per row.
  database.exec('pragma journal_mode = delete; pragma synchronous = full; pragma foreign_keys = off; begin')
  for (const statement of schemaStatements('sqlite', schemaVersion)) database.exec(statement)
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
    .all() as { name: string }[]
  // Migrations insert initial rows, which the copy contains too.
  for (const { name } of tables) database.exec(`delete from "${name}"`)
  return {
    async insert({ name, columns }, rows) {
      const marks = columns.map(() => '?').join(', ')
      const statement = database.prepare(`insert into "${name}" (${quoted(columns)}) values (${marks})`)
      for (const row of rows) statement.run(...(row as SQLInputValue[]))
    },
    rows: (shape) => readRows(database, shape),
    async complete() {
      const orphan = database.prepare('pragma foreign_key_check').get() as
        | { table: string; parent: string }
        | undefined
      if (orphan)
        throw new CopyError(`A row of ${orphan.table} refers to a row of ${orphan.parent} that is missing.`)
    },
    async commit() {
      database.exec('commit')
    },
    async close() {
      database.close()
    },
  }
}

function readSchemaVersion(database: DatabaseSync, file: string): number {
  const hasTable = database.prepare(`select 1 from sqlite_schema where name = 'migrations'`).get()
  if (!hasTable) throw new CopyError(`${file} is not a control database.`)
  const { number } = database.prepare('select max(number) as number from migrations').get() as {
    number: number
  }
  return requireReadableVersion(number)
}

export function requireReadableVersion(schemaVersion: number): number {
  if (schemaVersion <= latestSchemaVersion()) return schemaVersion
  throw new CopyError(
    `The control database is at version ${schemaVersion}, and this program knows versions up to ${latestSchemaVersion()}. Use a newer program.`,
  )
}

async function* readRows(database: DatabaseSync, { name, columns }: TableShape): AsyncGenerator<Row[]> {
  const statement = database.prepare(`select ${quoted(columns)} from "${name}"`)
  statement.setReturnArrays(true)
  let batch: Row[] = []
  let characters = 0
  for (const values of statement.iterate() as Iterable<unknown>) {
    const row = values as Row
    batch.push(row)
    for (const value of row) characters += typeof value === 'string' ? value.length : 8
    if (batch.length >= BATCH_ROWS || characters >= BATCH_CHARACTERS) {
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

export function quoted(columns: string[]): string {
  return columns.map((column) => `"${column}"`).join(', ')
}
