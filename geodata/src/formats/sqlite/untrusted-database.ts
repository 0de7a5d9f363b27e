import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { quoteName } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import { PURE_FUNCTIONS } from './pure-functions.ts'
import { readSchema, refuseVirtualTables, type SqliteSchema } from './sqlite-schema.ts'

/** The tables that describe a file may be views of any length too. */
const MAX_DESCRIPTION_ROWS = 10_000
const MAX_SCHEMA_ENTRIES = 100_000
/** The max length of a value, which SQLite would otherwise compute up to a gigabyte. */
const MAX_VALUE_BYTES = 128 << 20
const READ_PRAGMAS = new Set(['table_info', 'encoding'])
/** Table-valued functions that only compute rows from their arguments. */
const PURE_TABLES = new Set(['json_each', 'json_tree'])
const SCHEMA_TABLES = new Set(['sqlite_master', 'sqlite_schema'])

export type Row = { [name: string]: unknown }

/**
 * An SQLite database that somebody else made, opened so that nothing in it is executed except for views of its
 * own ordinary tables.
 *
 * 1. It is opened read-only and without locks or a log (`checkpointedCopy` has included that), without
 *    extensions, in defensive mode and with `trusted_schema` off, so that functions in the schema have no effects.
 * 2. Tables and views are read only after `requireReadable`, which refuses virtual tables by the schema's text,
 *    before SQLite connects to their modules.
 * 3. An authorizer allows reading ordinary tables of the file, calling pure functions and the pragmas that we
 *    use, and nothing else. A query that calls itself is refused: it can compute without end, and fill a disk
 *    with temporary files before its first row.
 *
 * Every statement is checked when it is prepared, so that reading rows costs the same.
 */
export class UntrustedDatabase {
  readonly file: string
  readonly schema: SqliteSchema
  readonly #database: DatabaseSync
  /** The names of virtual tables that are in every database. */
  readonly #modules: Set<string>
  /** What the authorizer refused last. */
  #refused: string | null = null

  constructor(path: string, file: string, maxValueBytes = MAX_VALUE_BYTES) {
    this.file = file
    this.#database = openDefensively(`${pathToFileURL(path).href}?immutable=1`, true, maxValueBytes)
    try {
      this.#database.exec('PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON')
      const modules = this.#database.prepare('PRAGMA module_list').all()
      this.#modules = new Set(modules.map(({ name }) => String(name).toLowerCase()))
      this.schema = this.#readSchema()
      this.#database.setAuthorizer((action, name, detail, database) =>
        this.#isAllowed(action, name, detail, database) ? constants.SQLITE_OK : constants.SQLITE_DENY,
      )
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** Throws unless the table or view consists of ordinary tables of the file. */
  requireReadable(table: string): void {
    refuseVirtualTables(this.schema, table, this.file)
  }

  has(table: string): boolean {
    return this.schema.has(table.toLowerCase())
  }

  prepare(sql: string): StatementSync {
    this.#refused = null
    try {
      return this.#database.prepare(sql)
    } catch (error) {
      if (this.#refused === null) throw error
      throw new SourceError(`${this.file} uses ${this.#refused}, which is not executed.`)
    }
  }

  /** Rows of a table that describes the file. */
  select(columns: string, table: string, where = '', ...values: (string | number)[]): Row[] {
    this.requireReadable(table)
    return this.#all(`SELECT ${columns} FROM ${quoteName(table)} ${where}`, values)
  }

  columnsOf(table: string): Row[] {
    this.requireReadable(table)
    return this.#all(`PRAGMA table_info(${quoteName(table)})`, [])
  }

  close(): void {
    this.#database.close()
  }

  #all(sql: string, values: (string | number)[]): Row[] {
    const rows: Row[] = []
    for (const row of this.prepare(sql).iterate(...values)) {
      if (rows.length === MAX_DESCRIPTION_ROWS)
        throw new SourceError(`${this.file} describes itself in more than ${MAX_DESCRIPTION_ROWS} rows.`)
      rows.push(row)
    }
    return rows
  }

  #readSchema(): SqliteSchema {
    const texts: string[] = []
    for (const { sql } of this.#database.prepare('SELECT sql FROM sqlite_master').iterate()) {
      if (texts.length === MAX_SCHEMA_ENTRIES)
        throw new SourceError(`${this.file} has more than ${MAX_SCHEMA_ENTRIES} tables and indexes.`)
      // An index that SQLite made for a constraint has no SQL.
      if (sql !== null) texts.push(String(sql))
    }
    return readSchema(texts, this.file)
  }

  #isAllowed(action: number, name: string | null, detail: string | null, database: string | null): boolean {
    switch (action) {
      case constants.SQLITE_SELECT:
        return true
      case constants.SQLITE_READ:
        return this.#isReadable(name!, detail!, database) || this.#refuse(`the table ${name}`)
      case constants.SQLITE_FUNCTION:
        return PURE_FUNCTIONS.has(detail!.toLowerCase()) || this.#refuse(`the function ${detail}`)
      case constants.SQLITE_PRAGMA:
        return READ_PRAGMAS.has(name!) || this.#refuse(`the pragma ${name}`)
      case constants.SQLITE_RECURSIVE:
        return this.#refuse('a recursive query')
      default:
        return this.#refuse('a statement that does more than read')
    }
  }

  #isReadable(table: string, column: string, database: string | null): boolean {
    if (database !== null && database !== 'main') return false
    const name = table.toLowerCase()
    const entry = this.schema.get(name)
    if (entry !== undefined) return entry.kind !== 'virtual'
    if (PURE_TABLES.has(name) || SCHEMA_TABLES.has(name)) return true
    // SQLite names a subquery (WITH name AS …) only if none of its columns is used. A module is a table too.
    return column === '' && !this.#modules.has(name) && !name.startsWith('pragma_')
  }

  #refuse(what: string): false {
    this.#refused = what
    return false
  }
}

/** Writes the changes of a write-ahead log into this process's own copy of a database. */
export function includeLog(path: string): void {
  const database = openDefensively(path, false)
  try {
    database.setAuthorizer((action, name) =>
      action === constants.SQLITE_PRAGMA && name === 'journal_mode'
        ? constants.SQLITE_OK
        : constants.SQLITE_DENY,
    )
    database.exec('PRAGMA journal_mode = DELETE')
  } finally {
    database.close()
  }
}

function openDefensively(location: string, readOnly: boolean, maxValueBytes = MAX_VALUE_BYTES): DatabaseSync {
  const database = new DatabaseSync(location, {
    readOnly,
    allowExtension: false,
    defensive: true,
    enableForeignKeyConstraints: false,
    limits: { length: Math.min(Math.max(maxValueBytes, 1 << 20), 1e9), attach: 0 },
  })
  try {
    database.exec('PRAGMA trusted_schema = OFF')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
