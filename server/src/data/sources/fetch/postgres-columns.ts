import { SourceError } from '@wayleave/geodata/compile'
import type { PgcopyColumn, PgcopyKind } from '@wayleave/geodata/pgcopy'

/** A column of the query, with the names of its type and of the type that a domain is based on. */
export interface QueryColumn {
  name: string
  /** Such as `int4`, `geometry` or `_text`. */
  type: string
  /** `A` for arrays, `C` for composites and so on, as in `pg_type.typcategory`. */
  category: string
  /** The modifier of the type, from which PostGIS tells the SRID. */
  modifier: number
}

/** A column as it is copied: what is selected, and how its values are then encoded. */
export interface CopiedColumn extends PgcopyColumn {
  sql: string
}

const AS_THEY_ARE: Record<string, PgcopyKind> = {
  bool: 'boolean',
  int2: 'int2',
  int4: 'int4',
  int8: 'int8',
  float8: 'float8',
  date: 'date',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  text: 'text',
  varchar: 'text',
}
/** The shortest text of a float4 is the number that people wrote; as a double it would have more digits. */
const DECIMALS = new Set(['numeric', 'float4'])
const GEOMETRIES = new Set(['geometry', 'geography'])

/** How each column is copied, exactly. `geometryColumn` chooses one of several geometries. */
export function copiedColumns(
  columns: readonly QueryColumn[],
  geometryColumn?: string,
): { columns: CopiedColumn[]; geometry: QueryColumn | null } {
  const repeated = columns.find(({ name }, i) => columns.findIndex((one) => one.name === name) < i)
  if (repeated)
    throw new SourceError(`The query has two columns named "${repeated.name}". Give one another name.`)
  const geometries = columns.filter(({ type }) => GEOMETRIES.has(type))
  const chosen = geometryColumn && geometries.find(({ name }) => name === geometryColumn)
  if (geometryColumn !== undefined && !chosen)
    throw new SourceError(`The query has no geometry column named "${geometryColumn}".`)
  const geometry = chosen || (geometries[0] ?? null)
  return { columns: columns.map((column) => copied(column, column === geometry)), geometry }
}

function copied({ name, type, category }: QueryColumn, isGeometry: boolean): CopiedColumn {
  const column = quoted(name)
  if (GEOMETRIES.has(type)) {
    return isGeometry
      ? { name, kind: 'geometry', sql: `ST_AsEWKB(${column}::geometry)` }
      : { name, kind: 'text', sql: `ST_AsText(${column}::geometry)` }
  }
  const kind = AS_THEY_ARE[type]
  if (kind) return { name, kind, sql: column }
  if (DECIMALS.has(type)) return { name, kind: 'decimal', sql: `${column}::text` }
  if (type === 'json' || type === 'jsonb') return { name, kind: 'json', sql: `${column}::text` }
  if (category === 'A' || category === 'C') return { name, kind: 'json', sql: `to_json(${column})::text` }
  return { name, kind: 'text', sql: `${column}::text` }
}

/** Quotes a name for PostgreSQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
