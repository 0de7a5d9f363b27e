import { quoteName } from '@wayleave/geodata/features'
import type { Column, Value } from '@wayleave/geodata/geometry'
import type { SortKey } from '../plan/sort-key.ts'
import { LIST_OPERATOR } from '../plan/sql/to-sql.ts'
import type { QueryValue } from './query-messages.ts'

/**
 * An ORDER BY that is a total order: nulls come last in both directions, and ties are in snapshot order.
 * Without sort keys there is no clause unless the condition has a list: DuckDB preserves the file's order and stops
 * earlier at the limit than if it sorted. Lists of several values become a join, which does not preserve it.
 */
export function orderSql(sort: readonly SortKey[], columns: readonly Column[], condition: string): string {
  if (sort.length === 0) return condition.includes(LIST_OPERATOR) ? ' ORDER BY file_row_number' : ''
  const keys = sort.map(({ column, descending }) => {
    return `${quoteName(columns[column]!.name)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`
  })
  return ` ORDER BY ${keys.join(', ')}, file_row_number`
}

/** SQL conditions for the rows that come after a given row in a sort order. */
export interface RowsAfter {
  /** The later rows that have a value for the first key; all later rows if the given row has none. */
  where: string
  /**
   * The later rows without a value for the first key, which come last; null if `where` includes them already.
   */
  nulls: string | null
}

/**
 * SQL for the rows that come after the row with these values at this position. They are queried in two steps,
 * because DuckDB can use the min and max values of a column only if all rows have to meet a condition: a
 * single OR costs three times as much.
 */
export function rowsAfter(
  sort: readonly SortKey[],
  columns: readonly Column[],
  values: { [name: string]: Value },
  position: number,
  bind: (value: QueryValue) => string,
): RowsAfter {
  const [key, ...others] = sort
  if (!key) return { where: `file_row_number > ${position}`, nulls: null }
  const { name, type, nullable } = columns[key.column]!
  const column = quoteName(name)
  const value = values[name] ?? null
  const rest = rowsAfter(others, columns, values, position, bind)
  const later = rest.nulls === null ? rest.where : `(${rest.where} OR ${rest.nulls})`
  if (value === null) return { where: `(${column} IS NULL AND ${later})`, nulls: null }
  // As text, because the driver takes whole doubles for integers of 64 bits.
  const bound = type === 'number' ? String(value) : (value as QueryValue)
  const last = `CAST(${bind(bound)} AS ${sqlType(type, value)})`
  const after = key.descending ? '<' : '>'
  return {
    where: `(${column} ${after}= ${last} AND (${column} ${after} ${last} OR ${later}))`,
    nulls: nullable ? `(${column} IS NULL)` : null,
  }
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
    case 'text':
    case 'json':
      return 'VARCHAR'
  }
}
