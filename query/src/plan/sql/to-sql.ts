import { assertNever } from '@wayleave/geodata/base'
import { quoteName } from '@wayleave/geodata/features'
import type { Condition, LiteralValue, Scalar, ScalarType } from '../../cql2/condition.ts'
import type { DecideInBox } from '../../cql2/evaluate/decide-in-box.ts'
import { foldSql } from '../../cql2/evaluate/fold-text.ts'
import { foldedName } from '../../cql2/folded-name.ts'
import { likeSql } from './like-sql.ts'

/**
 * Numbers are bound as text, which is exact at any size: the driver would treat integral doubles as integers.
 * A function stands for a set of positions, one bit each: those of the features that it does not rule out by
 * their boxes.
 */
export type Parameter = string | boolean | DecideInBox

/** Tells a condition with a list from others. */
export const LIST_OPERATOR = ' IN '

/**
 * Generates DuckDB SQL over the columns of rows.parquet for conditions. Every literal of the filter becomes a
 * parameter and every name a quoted identifier, so no user input is part of the SQL text.
 */
export class SqlWriter {
  readonly parameters: Parameter[] = []
  /** The columns that the SQL reads. */
  readonly columns = new Set<string>()
  /**
   * Columns that the SQL reads and that are not in the rows, each with the SQL that computes it from them.
   */
  readonly derived = new Map<string, string>()
  bind(value: Parameter): string {
    this.parameters.push(value)
    return `$${this.parameters.length}`
  }

  /** Whether the row's position is in a set of positions. */
  isIn(set: DecideInBox): string {
    return `(get_bit(CAST(CAST(${this.bind(set)} AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1)`
  }

  /** Only for conditions for which `isSqlOnly` is true. */
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
          ([left, ...items]) => `${left}${LIST_OPERATOR}(${items.join(', ')})`,
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
   * The result of integer arithmetic may be wider than the 38 digits of a column's type. In that case all
   * sides are cast to 128 bits; otherwise plain columns are compared without a cast.
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

  /** A complete scalar: an arithmetic result that is not finite is null. */
  operand(scalar: Scalar): string {
    const sql = this.#scalar(scalar)
    if (scalar.kind !== 'arithmetic' && scalar.kind !== 'power') return sql
    // TRY returns null for an overflow of 128 bits, which would otherwise fail the query.
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
        // Cast to 128 bits first, regardless of the column's width, so that rounding is the same everywhere.
        return `CAST(CAST(${this.operand(scalar.of)} AS HUGEINT) AS DOUBLE)`
      case 'toDate':
        // A cast that involves a time zone would take seven times as long; both are microseconds in UTC.
        return `CAST(make_timestamp(epoch_us(${this.#scalar(scalar.of)})) AS DATE)`
      case 'fold':
        return this.#fold(scalar)
      case 'condition':
        return this.condition(scalar.of)
    }
  }

  /** A term of an arithmetic expression. Integers are widened before they can overflow. */
  #term(scalar: Scalar): string {
    const sql = this.#scalar(scalar)
    return scalar.type === 'integer' && scalar.kind !== 'arithmetic' ? `CAST(${sql} AS HUGEINT)` : sql
  }

  #literal({ type, value }: Scalar & { kind: 'literal' }): string {
    if (type === 'boolean') return `CAST(${this.bind(value as boolean)} AS BOOLEAN)`
    const isTime = type === 'timestamp' && value !== 'infinity' && value !== '-infinity'
    return `CAST(${this.bind(isTime ? `${value}Z` : String(value))} AS ${sqlType(type, value)})`
  }

  /** A column of the rows or of the cached columns. Its name is recorded in `columns`. */
  column(name: string): string {
    this.columns.add(name)
    return quoteName(name)
  }

  /** Folding takes far longer than comparing. As derived columns, folded texts can be cached. */
  #fold(scalar: Scalar & { kind: 'fold' }): string {
    const name = foldedName(scalar)
    this.derived.set(name, this.#foldedSql(scalar))
    return quoteName(name)
  }

  #foldedSql({ fold, of }: Scalar & { kind: 'fold' }): string {
    // The original column is not recorded as one that the SQL reads.
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
   * Dividing 128-bit integers takes ten times as long as dividing 64-bit ones. A wide column whose value fits
   * into 64 bits is divided by a 64-bit literal in 64 bits: the remainder fits, and the quotient too, except
   * for the divisor -1.
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

/**
 * Whether DuckDB can decide a condition. It has no exact geometry operations, no arrays and no powers with
 * arbitrary exponents.
 */
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
