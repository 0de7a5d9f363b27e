import type { DuckDBValue } from '@duckdb/node-api'
import type { Column, Value } from '@wayleave/geodata/feature.ts'
import { quoteName } from '@wayleave/geodata/quote-sql.ts'
import type { SortKey } from './sort-keys.ts'

/**
 * Nulls come last in both directions, and equals in snapshot order: one order, whole and fixed. Without keys
 * there is no clause: the database keeps the order of the file, and stops at its limit sooner than if it sorted.
 */
export function orderSql(sort: readonly SortKey[], columns: readonly Column[]): string {
  if (sort.length === 0) return ''
  const keys = sort.map(({ column, descending }) => {
    return `${quoteName(columns[column]!.name)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`
  })
  return ` ORDER BY ${keys.join(', ')}, file_row_number`
}

/** SQL for the rows that come after one with these values at this position. */
export function afterRow(
  sort: readonly SortKey[],
  columns: readonly Column[],
  values: { [name: string]: Value },
  position: number,
  bind: (value: DuckDBValue) => string,
): string {
  const [key, ...others] = sort
  if (!key) return `file_row_number > ${position}`
  const { name, type } = columns[key.column]!
  const column = quoteName(name)
  const value = values[name] ?? null
  const rest = afterRow(others, columns, values, position, bind)
  if (value === null) return `(${column} IS NULL AND ${rest})`
  const last = `CAST(${bind(value as DuckDBValue)} AS ${sqlType(type, value)})`
  return `(${column} ${key.descending ? '<' : '>'} ${last} OR ${column} IS NULL OR (${column} = ${last} AND ${rest}))`
}

function sqlType(type: Column['type'], value: Value): string {
  switch (type) {
    case 'boolean':
      return 'BOOLEAN'
    case 'integer':
      return BigInt.asIntN(64, BigInt(value as number)) === BigInt(value as number) ? 'BIGINT' : 'HUGEINT'
    case 'number':
      return 'DOUBLE'
    case 'date':
      return 'DATE'
    case 'timestamp':
      return 'TIMESTAMPTZ'
    default:
      return 'VARCHAR'
  }
}
