import { type ColumnFormat, isNumberFormat } from '@wayleave/contract/column-formats'
import type { ColumnType } from '../../feature.ts'
import { quoteText } from '../../quote-sql.ts'
import type { Assembly, FinalColumn } from '../assemble.ts'
import type { SourceValue } from '../compile-options.ts'
import { type Notation, type NumberGroup, numberPattern } from '../values/notation.ts'
import { type DateOrder, formats, withinYears } from './date-notation.ts'

type DateFormat = Exclude<ColumnFormat, 'decimal-point' | 'decimal-comma'>

const ORDERS: { [format in DateFormat]: DateOrder } = {
  'dd-mm-yyyy': 'day-first',
  'mm-dd-yyyy': 'month-first',
  'yyyy-mm-dd': 'year-first',
}
const SEPARATORS = ['-', '/', '.']

/** The notations that a format allows; the first that all values of a column have is used. */
export function notationsOf(format: ColumnFormat): Notation[] {
  if (!isNumberFormat(format)) {
    const all = SEPARATORS.flatMap((separator) => formats(ORDERS[format], separator))
    return [{ kind: 'date', formats: all }]
  }
  const isComma = format === 'decimal-comma'
  const groups: NumberGroup[] = [isComma ? '.' : ',', ' ', "'"]
  return groups.map((group) => ({ kind: 'number', group, decimal: isComma ? ',' : '.' }))
}

/** SQL for whether the text `t` does not have a notation. */
export function unfitSql(notation: Notation): string {
  if (notation.kind === 'number')
    return `NOT regexp_full_match(t, ${quoteText(numberPattern(notation.group, notation.decimal))})`
  const time = `try_strptime(t, [${notation.formats.map(quoteText).join(', ')}])`
  return `NOT coalesce(${withinYears(time)}, false)`
}

/**
 * Reads a column as the publisher states its format. Returns the first value that does not have it, and then leaves
 * the column as it is.
 */
export async function applyFormat(
  assembly: Assembly,
  column: FinalColumn,
  format: ColumnFormat,
  rows: number,
): Promise<SourceValue | null> {
  const { profile } = column
  // A format is one of texts: sources with numbers and dates of their own do not have any.
  if (profile.declared !== 'infer-text' && !profile.stagedAs.includes('text')) return null
  let misfit: SourceValue | null = null
  for (const notation of notationsOf(format)) {
    const [row, text, hasDecimals, hasTimes] = await assembly.aggregateTexts(profile, [
      `min(row) FILTER (WHERE ${unfitSql(notation)})`,
      `arg_min(t, row) FILTER (WHERE ${unfitSql(notation)})`,
      `bool_or(regexp_matches(t, '${notation.kind === 'number' && notation.decimal === '.' ? '[.]' : ','}\\d+$'))`,
      `bool_or(contains(t, ':'))`,
    ])
    if (row !== null) {
      misfit ??= { row: Number(row), value: String(text) }
      continue
    }
    profile.notation = notation
    column.type = typeOf(notation, hasDecimals === true, hasTimes === true)
    column.nullable = profile.present - profile.blank < rows
    return null
  }
  return misfit
}

function typeOf(notation: Notation, hasDecimals: boolean, hasTimes: boolean): ColumnType {
  if (notation.kind === 'number') return hasDecimals ? 'number' : 'integer'
  return hasTimes ? 'timestamp' : 'date'
}

/** The format of a notation that was recognised. */
export function formatOf(notation: Notation | undefined): ColumnFormat | null {
  if (notation === undefined) return null
  if (notation.kind === 'number') return notation.decimal === ',' ? 'decimal-comma' : 'decimal-point'
  const first = notation.formats[0]!
  return first.startsWith('%d') ? 'dd-mm-yyyy' : first.startsWith('%m') ? 'mm-dd-yyyy' : 'yyyy-mm-dd'
}
