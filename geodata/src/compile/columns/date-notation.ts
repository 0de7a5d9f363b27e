import { quoteText } from '../../quote-sql.ts'
import type { Assembly } from '../assemble.ts'
import type { ColumnProfile } from '../stage/staged-column.ts'
import type { Notation } from '../values/notation.ts'

export type DateOrder = 'day-first' | 'month-first' | 'year-first'

/** What the texts of one column say about how they write dates. */
export interface DateReading {
  /** Null if the values are not all dates, or not all times, with the same separator. */
  type: 'date' | 'timestamp' | null
  /** Null if both orders are possible. */
  order: DateOrder | null
  isAmbiguous: boolean
  /** Whether a day above 12 shows the order; points are always read day first. */
  isProof: boolean
  example: string
  notation(order: DateOrder): Notation
}

const TIMES = ['', ' %H:%M', ' %H:%M:%S']

export function formats(order: DateOrder, separator: string): string[] {
  const parts = {
    'day-first': ['%d', '%m', '%Y'],
    'month-first': ['%m', '%d', '%Y'],
    'year-first': ['%Y', '%m', '%d'],
  }
  return TIMES.map((time) => parts[order].join(separator) + time)
}

/** SQL for whether a time is within the years that responses can write; null if it is infinite. */
export function withinYears(time: string): string {
  return `year(${time}) BETWEEN 1 AND 9999`
}

export async function readDates(assembly: Assembly, profile: ColumnProfile): Promise<DateReading> {
  const [text, withTime, withoutTime, separators] = await assembly.aggregateTexts(profile, [
    'arg_min(t, row)',
    "count(*) FILTER (WHERE t LIKE '%:%')",
    "count(*) FILTER (WHERE t NOT LIKE '%:%')",
    "string_agg(DISTINCT regexp_extract(t, '[./-]'), '')",
  ])
  const example = String(text ?? '')
  const separator = String(separators ?? '')
  const notation = (order: DateOrder): Notation => ({ kind: 'date', formats: formats(order, separator) })
  const isMixed = Number(withTime) > 0 && Number(withoutTime) > 0
  const unknown: DateReading = {
    type: null,
    order: null,
    isAmbiguous: false,
    isProof: false,
    example,
    notation,
  }
  if (separator.length !== 1 || isMixed) return unknown
  const orders: DateOrder[] = ['day-first', 'month-first', 'year-first']
  const facts = await assembly.aggregateTexts(
    profile,
    orders.map((order) => {
      const time = `try_strptime(t, [${formats(order, separator).map(quoteText).join(', ')}])`
      return `bool_and(coalesce(${withinYears(time)}, false))`
    }),
  )
  const possible = orders.filter((_, i) => facts[i] === true)
  if (possible.length === 0) return unknown
  const type = Number(withTime) > 0 ? 'timestamp' : 'date'
  const isAmbiguous = possible.length > 1 && separator !== '.'
  const order = isAmbiguous ? null : possible[0]!
  return { type, order, isAmbiguous, isProof: possible.length === 1, example, notation }
}
