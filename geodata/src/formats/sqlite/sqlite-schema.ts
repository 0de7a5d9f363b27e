import { SourceError } from '../../source-error.ts'

/** A table or view, as its own SQL defines it. */
export interface SchemaEntry {
  name: string
  kind: 'table' | 'view' | 'virtual'
  /** The module of a virtual table. */
  module: string | null
  /** The names that a view uses, in lower case: of tables, columns and functions. */
  names: Set<string>
}

/** Tables and views by their name in lower case. */
export type SqliteSchema = Map<string, SchemaEntry>

const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\p{L}_$\u0080-\uffff][\p{L}\p{N}_$\u0080-\uffff]*|[^\s]/gu

/**
 * The schema by the SQL texts in `sqlite_master`. Its other columns are ignored, because SQLite creates what the
 * SQL says even if the row has another name and type.
 */
export function readSchema(texts: Iterable<string>, file: string): SqliteSchema {
  const schema: SqliteSchema = new Map()
  for (const sql of texts) {
    const entry = schemaEntry(sql, file)
    if (entry !== null) schema.set(entry.name.toLowerCase(), entry)
  }
  return schema
}

/** Null for an index or trigger, which reading never executes. */
function schemaEntry(sql: string, file: string): SchemaEntry | null {
  const tokens = (sql.match(TOKEN) ?? []).filter(
    (token) => !token.startsWith('--') && !token.startsWith('/*'),
  )
  const words = tokens.slice(0, 7).map((token) => token.toUpperCase())
  if (words[0] !== 'CREATE') throw unknownEntry(sql, file)
  let at = 1
  if (words[at] === 'UNIQUE' || words[at] === 'INDEX' || words[at] === 'TRIGGER') return null
  const isVirtual = words[at] === 'VIRTUAL'
  if (isVirtual) at++
  const type = words[at++]
  if (type !== 'TABLE' && (type !== 'VIEW' || isVirtual)) throw unknownEntry(sql, file)
  if (words.slice(at, at + 3).join(' ') === 'IF NOT EXISTS') at += 3
  const name = tokens[at++]
  if (name === undefined || tokens[at] === '.') throw unknownEntry(sql, file)
  const rest = tokens.slice(at)
  return {
    name: unquoted(name),
    kind: isVirtual ? 'virtual' : type === 'VIEW' ? 'view' : 'table',
    module: isVirtual ? unquoted(rest[1] ?? '') : null,
    names: new Set(type === 'VIEW' ? rest.map((token) => unquoted(token).toLowerCase()) : []),
  }
}

function unknownEntry(sql: string, file: string): SourceError {
  return new SourceError(
    `${file} has an entry in its schema that is not a table, view, index or trigger: ${JSON.stringify(sql.slice(0, 40))}.`,
  )
}

function unquoted(token: string): string {
  const [quote] = token
  if (quote === '[') return token.slice(1, -1)
  if (quote !== '"' && quote !== "'" && quote !== '`') return token
  return token.slice(1, -1).replaceAll(quote + quote, quote)
}

/**
 * Throws if a table or view may not be read: a virtual table runs the code of its module, which may read other
 * files, and so does a view that uses one. A view is refused for the name alone, before SQLite connects to the
 * module.
 */
export function refuseVirtualTables(schema: SqliteSchema, table: string, file: string): void {
  const layer = schema.get(table.toLowerCase())
  const waiting = layer === undefined ? [] : [layer]
  const visited = new Set(waiting)
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (entry.kind === 'virtual') {
      const what = `virtual table${entry === layer ? '' : ` ${entry.name}`} of the module ${entry.module}`
      throw new SourceError(
        entry === layer
          ? `${file}: ${table} is a ${what}. Only ordinary tables, and views of them, are read. Copy its rows into an ordinary table.`
          : `${file}: ${table} is a view that uses the ${what}. Only ordinary tables, and views of them, are read. Copy its rows into an ordinary table.`,
      )
    }
    for (const name of entry.names) {
      const used = schema.get(name)
      if (used === undefined || visited.has(used)) continue
      visited.add(used)
      waiting.push(used)
    }
  }
}
