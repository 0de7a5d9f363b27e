import { stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { quoteName, quoteText } from '../../quote-sql.ts'
import { FID_COLUMN, GEOMETRY_COLUMN } from './converted-names.ts'

interface TableColumn {
  name: string
  declared: string
}

/**
 * Replaces the attributes in a converted SpatiaLite layer by those of the source. GDAL reads columns that are
 * declared INTEGER as 32 bits, so larger integers become 2147483647, texts become 0 and decimals are cut.
 * Returns false if that is not possible: the layer is a view, or there are several layers.
 */
export async function restoreSqliteValues(converted: string, source: string): Promise<boolean> {
  // The database is attached as it is in its file, without changes that are still in a journal.
  if (((await stat(`${source}-wal`).catch(() => null))?.size ?? 0) > 0) return false
  const database = new DatabaseSync(converted)
  try {
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
    database.exec(`ATTACH ${quoteText(`${pathToFileURL(source).href}?mode=ro&immutable=1`)} AS source`)
    const tables = database
      .prepare("SELECT table_name AS name FROM gpkg_contents WHERE table_name <> 'ogr_empty_table'")
      .all()
    if (tables.length !== 1) return false
    return restoreTable(database, String(tables[0]!['name']))
  } finally {
    database.close()
  }
}

function restoreTable(database: DatabaseSync, table: string): boolean {
  const schema = database.prepare('SELECT type, sql FROM source.sqlite_master WHERE name = ?').get(table)
  const sql = String(schema?.['sql'] ?? '')
  if (schema?.['type'] !== 'table' || /^\s*CREATE\s+VIRTUAL\b|WITHOUT\s+ROWID\W*$/i.test(sql)) return false
  const originals = new Map(
    columnsOf(database, 'source', table).map((column) => [column.name.toLowerCase(), column]),
  )
  const columns = columnsOf(database, 'main', table)
  const definitions: string[] = []
  const values: string[] = []
  for (const { name, declared } of columns) {
    const quoted = quoteName(name)
    const original = originals.get(name.toLowerCase())
    if (name === FID_COLUMN) definitions.push(`${quoted} INTEGER PRIMARY KEY`)
    else if (name === GEOMETRY_COLUMN) definitions.push(`${quoted} ${declared}`)
    // GDAL compresses such columns in a way of its own.
    else if (original === undefined || /_deflate/i.test(original.declared)) return false
    else definitions.push(`${quoted} ${typeFor(original.declared, declared)}`)
    if (name === FID_COLUMN || name === GEOMETRY_COLUMN) values.push(`read.${quoted}`)
    // Dates are as GDAL understands them, except for those that it does not.
    else if (/^DATE/.test(declared)) values.push(`coalesce(read.${quoted}, original.${quoted})`)
    else values.push(`original.${quoted}`)
  }
  const count = (name: string) =>
    Number(database.prepare(`SELECT count(*) AS n FROM main.${quoteName(name)}`).get()!['n'])
  const restored = `${table} restored`
  database.exec(`CREATE TABLE main.${quoteName(restored)} (${definitions.join(', ')})`)
  database.exec(
    `INSERT INTO main.${quoteName(restored)} SELECT ${values.join(', ')} FROM main.${quoteName(table)} AS read
     CROSS JOIN source.${quoteName(table)} AS original ON original._rowid_ = read.${quoteName(FID_COLUMN)}`,
  )
  const isWhole = count(restored) === count(table)
  database.exec(`DROP TABLE main.${quoteName(isWhole ? table : restored)}`)
  if (isWhole) database.exec(`ALTER TABLE main.${quoteName(restored)} RENAME TO ${quoteName(table)}`)
  return isWhole
}

function columnsOf(database: DatabaseSync, schema: 'main' | 'source', table: string): TableColumn[] {
  return database
    .prepare(`PRAGMA ${schema}.table_info(${quoteName(table)})`)
    .all()
    .map(({ name, type }) => ({ name: String(name), declared: String(type).toUpperCase() }))
}

/**
 * GDAL's type of a column, unless SQLite would convert values of the source that are stored as such: a large
 * integer in a column declared DECIMAL must not become a floating-point number.
 */
function typeFor(original: string, converted: string): string {
  if (/^JSON/.test(original)) return 'JSON'
  return affinityOf(original) === affinityOf(converted) ? converted : quoteType(original)
}

function quoteType(declared: string): string {
  return declared === '' ? '' : quoteName(declared)
}

/** The affinity of a declared type, by the rules of SQLite; integers and numerics store values alike. */
function affinityOf(declared: string): 'text' | 'none' | 'real' | 'numeric' {
  if (/INT/.test(declared)) return 'numeric'
  if (/CHAR|CLOB|TEXT/.test(declared)) return 'text'
  if (declared === '' || /BLOB/.test(declared)) return 'none'
  return /REAL|FLOA|DOUB/.test(declared) ? 'real' : 'numeric'
}
