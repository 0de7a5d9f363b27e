import type { Comparison } from '../ast.ts'
import { type Condition, type Scalar, typeName } from '../condition.ts'
import { Cql2Error } from '../cql2-error.ts'
import { isDate, parseTimestamp } from '../parse/literals.ts'

/** A comparison whose sides are converted to a common type. Throws a Cql2Error if there is none. */
export function compared(op: Comparison, left: Scalar, right: Scalar, at: string): Condition {
  if (left.type === 'integer' && isFraction(right))
    return comparedWithFraction(op, left, right.value as number)
  if (right.type === 'integer' && isFraction(left)) {
    return comparedWithFraction(mirrored(op), right, left.value as number)
  }
  const [a, b] = unified(left, right, at)
  return comparedDays(op, a, b)
}

/**
 * A comparison of two scalars of the same type. A timestamp compared with a literal day is compared with the
 * start of that day or of the next day instead: casting the column takes DuckDB ten times as long as the
 * comparison.
 */
export function comparedDays(op: Comparison, left: Scalar, right: Scalar): Condition {
  if (left.kind === 'toDate' && right.kind === 'literal') return onDay(op, left.of, right.value as string)
  if (right.kind === 'toDate' && left.kind === 'literal')
    return onDay(mirrored(op), right.of, left.value as string)
  return { kind: 'compare', op, left, right }
}

function onDay(op: Comparison, timestamp: Scalar, day: string): Condition {
  const isOpen = day === 'infinity' || day === '-infinity'
  const compare = (step: Comparison, value: string): Condition => {
    return {
      kind: 'compare',
      op: step,
      left: timestamp,
      right: { kind: 'literal', type: 'timestamp', value },
    }
  }
  if (isOpen) return compare(op, day)
  const first = `${day}T00:00:00`
  const next = dayAfter(day)
  switch (op) {
    case '<':
    case '>=':
      return compare(op, first)
    case '<=':
      return compare('<', next)
    case '>':
      return compare('>=', next)
    case '=':
      return { kind: 'and', args: [compare('>=', first), compare('<', next)] }
    case '<>':
      return { kind: 'or', args: [compare('<', first), compare('>=', next)] }
  }
}

function dayAfter(day: string): string {
  if (day === '9999-12-31') return 'infinity'
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 19)
}

function isFraction(scalar: Scalar): scalar is Scalar & { kind: 'literal' } {
  return scalar.kind === 'literal' && scalar.type === 'number'
}

/**
 * Compares an integer with a fraction. An integer is above 1.5 if it is at least 2; expressed in integers,
 * the comparison is exact at any size.
 */
function comparedWithFraction(op: Comparison, integer: Scalar, value: number): Condition {
  // No integer here has more than 38 digits. Both conditions are unknown if the integer is null.
  const always: Condition = { kind: 'compare', op: '=', left: integer, right: integer }
  const never: Condition = { kind: 'compare', op: '<>', left: integer, right: integer }
  if (op === '=') return never
  if (op === '<>') return always
  const isBelow = op === '<' || op === '<='
  if (Math.abs(value) >= 1e38) return isBelow === value > 0 ? always : never
  const limit = BigInt(Math.floor(value)) + (isBelow ? 0n : 1n)
  return { kind: 'compare', op: isBelow ? '<=' : '>=', left: integer, right: integerLiteral(limit) }
}

function integerLiteral(value: bigint): Scalar {
  return { kind: 'literal', type: 'integer', value }
}

function mirrored(op: Comparison): Comparison {
  const mirror: Record<Comparison, Comparison> = {
    '=': '=',
    '<>': '<>',
    '<': '>',
    '<=': '>=',
    '>': '<',
    '>=': '<=',
  }
  return mirror[op]
}

function unified(left: Scalar, right: Scalar, at: string): [Scalar, Scalar] {
  if (left.type === right.type) return [left, right]
  if (isNumeric(left) && isNumeric(right)) return [asNumber(left), asNumber(right)]
  if (isInstant(left) && isInstant(right)) return [asDate(left), asDate(right)]
  if (isInstant(left) && isText(right)) return unified(left, instantOf(right, at), at)
  if (isInstant(right) && isText(left)) return unified(instantOf(left, at), right, at)
  throw new Cql2Error(`The comparison ${at} is of ${typeName(left.type)} with ${typeName(right.type)}.`)
}

function isNumeric({ type }: Scalar): boolean {
  return type === 'integer' || type === 'number'
}

export function isInstant({ type }: Scalar): boolean {
  return type === 'date' || type === 'timestamp'
}

function isText(scalar: Scalar): boolean {
  return scalar.kind === 'literal' && scalar.type === 'text'
}

/** Converts a text literal that is used as an instant to a date or a timestamp. */
export function instantOf(scalar: Scalar, at: string): Scalar {
  const text = scalar.kind === 'literal' ? String(scalar.value) : ''
  if (isDate(text)) return { kind: 'literal', type: 'date', value: text }
  const timestamp = parseTimestamp(text)
  if (timestamp !== null) return { kind: 'literal', type: 'timestamp', value: timestamp }
  throw new Cql2Error(`The text ${at} is neither a date (2025-12-31) nor a timestamp (2025-12-31T23:59:59Z).`)
}

export function asNumber(scalar: Scalar): Scalar {
  if (scalar.type === 'number') return scalar
  if (scalar.kind === 'literal') return { kind: 'literal', type: 'number', value: Number(scalar.value) }
  return { kind: 'toNumber', type: 'number', of: scalar }
}

/** The day in UTC. A timestamp is converted to it when it is compared with a date. */
export function asDate(scalar: Scalar): Scalar {
  if (scalar.type === 'date') return scalar
  if (scalar.kind === 'literal') {
    return { kind: 'literal', type: 'date', value: (scalar.value as string).slice(0, 10) }
  }
  return { kind: 'toDate', type: 'date', of: scalar }
}
