import { quoteName } from '@wayleave/geodata/quote-sql.ts'
import { assertNever } from '../../../assert-never.ts'
import type { Condition, LiteralValue, Scalar, ScalarType } from '../condition.ts'
import type { DecideInBox } from '../evaluate/decide-in-box.ts'
import { foldSql } from '../evaluate/fold-text.ts'
import { likeSql } from './like-sql.ts'

/**
 * Numbers go as texts, exact at any size: the driver would take whole doubles for integers. A function stands
 * for a set of positions, a bit each: those of the features for which it is not false by their boxes.
 */
export type Parameter = string | boolean | DecideInBox

/**
 * Writes conditions as DuckDB SQL over the columns of rows.parquet. Every literal of the filter becomes a
 * parameter, and every name a quoted identifier: nothing that a user wrote stands in the text.
 */
export class SqlWriter {
  readonly parameters: Parameter[] = []
  /** The columns that the text reads. */
  readonly columns = new Set<string>()
  /** Columns that the text reads and the rows do not have, each with the SQL that makes it of theirs. */
  readonly derived = new Map<string, string>()
  bind(value: Parameter): string {
    this.parameters.push(value)
    return `$${this.parameters.length}`
  }

  /** Whether the row's position is in a set of positions. */
  isIn(set: DecideInBox): string {
    return `(get_bit(CAST(CAST(${this.bind(set)} AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1)`
  }

  /** A condition that `isSqlOnly`. */
  condition(condition: Condition): string {
    switch (condition.kind) {
      case 'constant':
        return condition.value ? 'TRUE' : 'FALSE'
      case 'and':
      case 'or':
        return `(${condition.args.map((arg) => this.condition(arg)).join(` ${condition.kind.toUpperCase()} `)})`
      case 'not':
        return `(NOT ${this.condition(condition.arg)})`
      case 'compare':
        return this.#comparison(
          [condition.left, condition.right],
          ([left, right]) => `${left} ${condition.op} ${right}`,
        )
      case 'in':
        return this.#comparison(
          [condition.left, ...condition.items],
          ([left, ...items]) => `${left} IN (${items.join(', ')})`,
        )
      case 'like':
        return likeSql(this.operand(condition.text), condition, (text) => this.bind(text))
      case 'truth':
        return `(${this.operand(condition.of)})`
      case 'isNull':
        return `(${this.#nullable(condition.of)} IS NULL)`
      case 'spatial':
      case 'array':
        throw new Error(`A condition of kind ${condition.kind} has no SQL.`)
      default:
        return assertNever(condition)
    }
  }

  /**
   * A result of integer arithmetic may be wider than the 38 digits of a column's type: then all sides are
   * brought to 128 bits, which a plain column is spared otherwise.
   */
  #comparison(sides: Scalar[], write: (sides: string[]) => string): string {
    const isWide = sides.some(({ kind, type }) => kind === 'arithmetic' && type === 'integer')
    const written = sides.map((side) => {
      const sql = this.operand(side)
      return isWide && side.kind === 'column' ? `CAST(${sql} AS HUGEINT)` : sql
    })
    return `(${write(written)})`
  }

  #nullable(of: (Condition & { kind: 'isNull' })['of']): string {
    if (of.kind === 'geometry') return this.column('geometry')
    if (of.kind === 'json') return this.column(of.name)
    return 'type' in of ? this.operand(of) : this.condition(of)
  }

  /** A scalar as a whole: what arithmetic leaves without a finite value is null. */
  operand(scalar: Scalar): string {
    const sql = this.#scalar(scalar)
    if (scalar.kind !== 'arithmetic' && scalar.kind !== 'power') return sql
    // TRY makes null of an overflow of 128 bits, which would else end the query.
    return scalar.type === 'integer' ? `TRY(${sql})` : `CASE WHEN isfinite(${sql}) THEN ${sql} END`
  }

  #scalar(scalar: Scalar): string {
    switch (scalar.kind) {
      case 'literal':
        return this.#literal(scalar)
      case 'column':
        return this.column(scalar.name)
      case 'arithmetic':
        return this.#arithmetic(scalar)
      case 'power':
        return power(this.#term(scalar.base), scalar.exponent)
      case 'toNumber':
        // By way of 128 bits, whatever width the column has: one rounding, the same everywhere.
        return `CAST(CAST(${this.operand(scalar.of)} AS HUGEINT) AS DOUBLE)`
      case 'toDate':
        // A cast by way of a time zone would take seven times as long; both are microseconds of UTC.
        return `CAST(make_timestamp(epoch_us(${this.#scalar(scalar.of)})) AS DATE)`
      case 'fold':
        return this.#fold(scalar)
      case 'condition':
        return this.condition(scalar.of)
    }
  }

  /** A part of an arithmetic expression: integers are widened before they can overflow. */
  #term(scalar: Scalar): string {
    const sql = this.#scalar(scalar)
    return scalar.type === 'integer' && scalar.kind !== 'arithmetic' ? `CAST(${sql} AS HUGEINT)` : sql
  }

  #literal({ type, value }: Scalar & { kind: 'literal' }): string {
    if (type === 'boolean') return `CAST(${this.bind(value as boolean)} AS BOOLEAN)`
    const isTime = type === 'timestamp' && value !== 'infinity' && value !== '-infinity'
    return `CAST(${this.bind(isTime ? `${value}Z` : String(value))} AS ${sqlType(type, value)})`
  }

  /** A column of the rows, or of those that are kept with it; its name is remembered. */
  column(name: string): string {
    this.columns.add(name)
    return quoteName(name)
  }

  /** Folding takes far longer than comparing: as columns of their own folded texts can be kept. */
  #fold(scalar: Scalar & { kind: 'fold' }): string {
    const name = foldedName(scalar)
    this.derived.set(name, this.#foldedSql(scalar))
    return quoteName(name)
  }

  #foldedSql({ fold, of }: Scalar & { kind: 'fold' }): string {
    // The column itself is not among those that the text reads.
    if (of.kind === 'column') return foldSql(fold, quoteName(of.name))
    return foldSql(fold, of.kind === 'fold' ? this.#foldedSql(of) : this.#scalar(of))
  }

  #arithmetic({ op, left: a, right: b, type }: Scalar & { kind: 'arithmetic' }): string {
    const left = this.#term(a)
    const right = this.#term(b)
    if (op === '+' || op === '-' || op === '*') return `(${left} ${op} ${right})`
    const divisor = `NULLIF(${right}, 0)`
    if (type === 'integer') return this.#division(op === 'div' ? '//' : '%', left, divisor, a, b)
    if (op === '/' || op === '%') return `(${left} ${op} ${divisor})`
    if (op === 'div') return `trunc(${left} / ${divisor})`
    throw new Error('A power of any exponent has no SQL.')
  }

  /**
   * To divide 128 bits takes ten times as long as to divide 64. A column of that width is divided by a literal
   * as it is: the remainder fits, and the quotient too unless by -1.
   */
  #division(symbol: '//' | '%', left: string, divisor: string, of: Scalar, by: Scalar): string {
    const wide = `(${left} ${symbol} ${divisor})`
    const isNarrow =
      by.kind === 'literal' && by.value !== -1n && BigInt.asIntN(64, by.value as bigint) === by.value
    if (of.kind !== 'column' || !isNarrow) return wide
    const narrow = `TRY_CAST(${quoteName(of.name)} AS BIGINT)`
    const quotient = `${narrow} ${symbol} CAST(${divisor} AS BIGINT)`
    return `(CASE WHEN ${narrow} IS NULL THEN ${wide} ELSE CAST(${quotient} AS HUGEINT) END)`
  }
}

/** No column of a dataset has a control character in its name. */
function foldedName(scalar: Scalar): string {
  if (scalar.kind === 'fold') return `${scalar.fold}\n${foldedName(scalar.of)}`
  return scalar.kind === 'column' ? scalar.name : ''
}

function sqlType(type: Exclude<ScalarType, 'boolean'>, value: LiteralValue): string {
  if (type === 'integer') return BigInt.asIntN(64, value as bigint) === value ? 'BIGINT' : 'HUGEINT'
  return { number: 'DOUBLE', text: 'VARCHAR', date: 'DATE', timestamp: 'TIMESTAMPTZ' }[type]
}

function power(base: string, exponent: number): string {
  if (exponent === 0) return `(${base} * CAST(0 AS DOUBLE) + CAST(1 AS DOUBLE))`
  const factors = Array.from({ length: Math.abs(exponent) }, () => 'base').join(' * ')
  const product = `list_extract(list_transform([${base}], lambda base: ${factors}), 1)`
  return exponent > 0 ? product : `(CAST(1 AS DOUBLE) / NULLIF(${product}, 0))`
}

/** Whether DuckDB can decide a condition: it has no exact geometry, arrays or powers of any exponent. */
export function isSqlOnly(condition: Condition): boolean {
  switch (condition.kind) {
    case 'constant':
      return true
    case 'and':
    case 'or':
      return condition.args.every(isSqlOnly)
    case 'not':
      return isSqlOnly(condition.arg)
    case 'compare':
      return isSqlScalar(condition.left) && isSqlScalar(condition.right)
    case 'in':
      return isSqlScalar(condition.left) && condition.items.every(isSqlScalar)
    case 'like':
      return isSqlScalar(condition.text)
    case 'truth':
      return isSqlScalar(condition.of)
    case 'isNull':
      if (condition.of.kind === 'geometry' || condition.of.kind === 'json') return true
      return 'type' in condition.of ? isSqlScalar(condition.of) : isSqlOnly(condition.of)
    case 'spatial':
    case 'array':
      return false
    default:
      return assertNever(condition)
  }
}

function isSqlScalar(scalar: Scalar): boolean {
  switch (scalar.kind) {
    case 'arithmetic':
      return scalar.op !== '^' && isSqlScalar(scalar.left) && isSqlScalar(scalar.right)
    case 'power':
      return isSqlScalar(scalar.base)
    case 'toNumber':
    case 'toDate':
    case 'fold':
      return isSqlScalar(scalar.of)
    case 'condition':
      return isSqlOnly(scalar.of)
    case 'literal':
    case 'column':
      return true
    default:
      return assertNever(scalar)
  }
}
