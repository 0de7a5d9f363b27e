import { DatabaseSync } from 'node:sqlite'
import { MIGRATIONS_TABLE } from '../../../base/database/migrations/migrate.ts'
import { migrations } from '../../../base/database/migrations/migrations.ts'

export interface TableShape {
  name: string
  columns: string[]
  /** The column with generated ids (identity or autoincrement), if the table has one. */
  identity: string | null
}

/**
 * Leases of running nodes mean nothing in a copy, and a copied lease would delay the first change. The log of requests
 * is kept for days only, and can be larger than all other tables.
 */
export const NOT_COPIED: ReadonlySet<string> = new Set(['nodes', 'request_log'])

const shapesOf = new Map<number, readonly TableShape[]>()

/**
 * The tables of a schema version, each after the tables that it references. They are read from an empty
 * in-memory database that the migrations create, so there is no second list of tables to keep up to date, and
 * the column order does not depend on the database that holds the rows. Applying the migrations takes 30 ms, and a
 * backup asks four times, so the result is kept.
 */
export function tableShapes(schemaVersion: number): readonly TableShape[] {
  const shapes = shapesOf.get(schemaVersion) ?? readTableShapes(schemaVersion)
  shapesOf.set(schemaVersion, shapes)
  return shapes
}

function readTableShapes(schemaVersion: number): TableShape[] {
  const database = new DatabaseSync(':memory:')
  try {
    for (const statement of schemaStatements('sqlite', schemaVersion)) database.exec(statement)
    const tables = database
      .prepare(`select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
      .all() as { name: string; sql: string }[]
    const referenced = new Map(tables.map(({ name }) => [name, referencesOf(database, name)]))
    const names = parentsFirst(referenced)
    const sqlOf = new Map(tables.map(({ name, sql }) => [name, sql]))
    return names
      .filter((name) => !NOT_COPIED.has(name))
      .map((name) => ({
        name,
        columns: columnsOf(database, name),
        identity: /"?(\w+)"? integer primary key autoincrement/.exec(sqlOf.get(name)!)?.[1] ?? null,
      }))
  } finally {
    database.close()
  }
}

/** All statements that create an empty database of the given version. */
export function schemaStatements(kind: 'sqlite' | 'postgres', schemaVersion: number): string[] {
  return [
    MIGRATIONS_TABLE,
    ...migrations.slice(0, schemaVersion).flatMap((migration) => migration.statements(kind)),
  ]
}

export function latestSchemaVersion(): number {
  return migrations.length
}

function referencesOf(database: DatabaseSync, table: string): string[] {
  const rows = database.prepare('select "table" as name from pragma_foreign_key_list(?)').all(table)
  return (rows as { name: string }[]).map(({ name }) => name).filter((name) => name !== table)
}

function columnsOf(database: DatabaseSync, table: string): string[] {
  const rows = database.prepare('select name from pragma_table_info(?) order by cid').all(table)
  return (rows as { name: string }[]).map(({ name }) => name)
}

/** A depth-first topological sort. The schema has no cycles; PostgreSQL could not create them in order. */
function parentsFirst(references: Map<string, string[]>): string[] {
  const sorted = new Set<string>()
  const visit = (name: string) => {
    if (sorted.has(name)) return
    for (const parent of references.get(name) ?? []) visit(parent)
    sorted.add(name)
  }
  for (const name of references.keys()) visit(name)
  return [...sorted]
}
