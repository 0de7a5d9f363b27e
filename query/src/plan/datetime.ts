import type { Expression } from '../cql2/ast.ts'
import { isDate, parseTimestamp } from '../cql2/parse/literals.ts'
import { invalidParameter } from '../query-error.ts'

const AT = 'in datetime'

/**
 * Translates `datetime` to a condition on the time column: an instant, or an interval whose ends may be open
 * (`..` or empty). Any other value throws. Returns null if the dataset has no time column. A feature
 * without a time matches every time (Part 1, requirement /req/core/fc-time-response, C).
 */
export function readDatetime(text: string, timeColumn: string | null): Expression | null {
  const ends = text.split('/')
  const time = ends.length === 1 ? instant(text) : interval(ends)
  if (timeColumn === null) return null
  const property: Expression = { kind: 'property', name: timeColumn, at: AT }
  const meets: Expression = { kind: 'call', op: 't_intersects', args: [property, time], at: AT }
  const isTimeless: Expression = { kind: 'call', op: 'isNull', args: [property], at: AT }
  return { kind: 'call', op: 'or', args: [meets, isTimeless], at: AT }
}

function interval(ends: string[]): Expression {
  const [from, to, more] = ends
  const start = from === '..' || from === '' ? null : instant(from!)
  const end = to === '..' || to === '' ? null : instant(to!)
  if (more !== undefined || (start === null && end === null)) throw malformed()
  if (start && end && start.kind !== end.kind) {
    throw invalidParameter('datetime', 'must have two dates or two times, not one of each')
  }
  if (start && end && start.value > end.value) throw invalidParameter('datetime', 'must have its start first')
  return { kind: 'interval', start, end, at: AT }
}

function instant(text: string): Expression & { kind: 'date' | 'timestamp' } {
  if (isDate(text)) return { kind: 'date', value: text, at: AT }
  const value = parseTimestamp(text)
  if (value === null) throw malformed()
  return { kind: 'timestamp', value, at: AT }
}

function malformed() {
  return invalidParameter(
    'datetime',
    'must be a date, a time in UTC such as 2025-12-31T23:59:59Z, or two of them with a slash between, one of which may be open (..)',
  )
}
