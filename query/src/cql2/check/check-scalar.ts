import type { Column, RelationBudget } from '@wayleave/geodata/geometry'
import { ARITHMETIC, type Arithmetic, type Expression, FOLDS, type Fold, type Operation } from '../ast.ts'
import { type Condition, type Scalar, typeName } from '../condition.ts'
import { Cql2Error, FilterCostError } from '../cql2-error.ts'
import { foldText } from '../evaluate/fold-text.ts'
import { asNumber } from './unify.ts'

/** The names that a filter may use: the dataset's columns, and `geometry` if the dataset is spatial. */
export interface Queryables {
  columns: Map<string, Column>
  isSpatial: boolean
  /** For relations between two literals, which are decided when the filter is checked. */
  literalRelations: RelationBudget
  /** Checks a condition inside a scalar; a function, because check.ts imports this file. */
  checkCondition: (expression: Expression) => Condition
}

export function checkScalar(expression: Expression, queryables: Queryables): Scalar {
  switch (expression.kind) {
    case 'literal':
      return literal(expression.value)
    case 'date':
    case 'timestamp':
      return { kind: 'literal', type: expression.kind, value: expression.value }
    case 'property':
      return property(expression.name, expression.at, queryables)
    case 'call':
      return call(expression, queryables)
    case 'interval':
      throw new Cql2Error(`The interval ${expression.at} can only be used in a temporal function.`)
    case 'array':
      throw new Cql2Error(`The array ${expression.at} can only be used in IN or in an array function.`)
    case 'geometry':
    case 'bbox':
      throw new Cql2Error(`The geometry ${expression.at} can only be used in a spatial function.`)
  }
}

function literal(value: string | number | bigint | boolean): Scalar {
  if (typeof value === 'string') return { kind: 'literal', type: 'text', value }
  if (typeof value === 'boolean') return { kind: 'literal', type: 'boolean', value }
  // Integral doubles that are too large for DuckDB's integers stay doubles.
  const isInteger = typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) <= 1e38)
  return isInteger
    ? { kind: 'literal', type: 'integer', value: BigInt(value) }
    : { kind: 'literal', type: 'number', value }
}

function property(name: string, at: string, { columns, isSpatial }: Queryables): Scalar {
  if (name === 'geometry' && isSpatial) {
    throw new Cql2Error(`The geometry ${at} can only be used in a spatial function or before IS NULL.`)
  }
  const column = columns.get(name)
  if (column === undefined) throw new Cql2Error(`The property ${name} ${at} is not one of this collection's.`)
  if (column.type === 'json') {
    throw new Cql2Error(
      `The property ${name} ${at} holds nested values: it can only be used in an array function or before IS NULL.`,
    )
  }
  return { kind: 'column', type: column.type, name: column.name }
}

function call(expression: Expression & { kind: 'call' }, queryables: Queryables): Scalar {
  const { op, args, at } = expression
  if (isScalarOperation(op)) {
    const operands = args.map((arg) => checkScalar(arg, queryables))
    return isOneOf(FOLDS, op) ? fold(op, operands[0]!, at) : arithmetic(op, operands[0]!, operands[1]!, at)
  }
  return { kind: 'condition', type: 'boolean', of: queryables.checkCondition(expression) }
}

/** Whether an operation returns text or a number. All others are conditions, which check.ts checks. */
export function isScalarOperation(op: Operation): op is Arithmetic | Fold {
  return isOneOf(ARITHMETIC, op) || isOneOf(FOLDS, op)
}

export function isOneOf<T extends string>(list: readonly T[], op: string): op is T {
  return (list as readonly string[]).includes(op)
}

function fold(op: Fold, of: Scalar, at: string): Scalar {
  if (of.type !== 'text') {
    throw new Cql2Error(`${op.toUpperCase()} ${at} is for text and not for ${typeName(of.type)}.`)
  }
  if (of.kind === 'literal') return { ...of, value: foldLiteral(op, of.value as string) }
  // Folding twice has no effect, and folding is the most expensive operation.
  if (of.kind === 'fold' && of.fold === op) return of
  if (foldsOf(of) >= MAX_FOLDS) {
    throw new Cql2Error(`CASEI and ACCENTI ${at} are nested more than ${MAX_FOLDS} levels deep.`)
  }
  return { kind: 'fold', type: 'text', fold: op, of }
}

const MAX_FOLDS = 4

function foldsOf(scalar: Scalar): number {
  return scalar.kind === 'fold' ? 1 + foldsOf(scalar.of) : 0
}

// Powers up to this exponent are expanded to multiplications, in the same order in SQL and in the
// interpreter, so that the results are identical bit for bit.
const MAX_POWER = 16

function arithmetic(op: Arithmetic, left: Scalar, right: Scalar, at: string): Scalar {
  for (const { type } of [left, right]) {
    if (type !== 'integer' && type !== 'number') {
      throw new Cql2Error(`Arithmetic ${at} is for numbers and not for ${typeName(type)}.`)
    }
  }
  if (op === '^') {
    const isWhole = right.kind === 'literal' && right.type === 'integer'
    const exponent = isWhole ? Number(right.value) : Number.NaN
    if (Math.abs(exponent) <= MAX_POWER) {
      return { kind: 'power', type: 'number', base: asNumber(left), exponent }
    }
  }
  const isExact = left.type === 'integer' && right.type === 'integer' && op !== '/' && op !== '^'
  if (isExact) return { kind: 'arithmetic', type: 'integer', op, left, right }
  return { kind: 'arithmetic', type: 'number', op, left: asNumber(left), right: asNumber(right) }
}

const MAX_FOLDED = 10_000

/** Folds a text of the filter. */
export function foldLiteral(fold: Fold, text: string): string {
  if (text.length > MAX_FOLDED)
    throw new FilterCostError(`A text in CASEI or ACCENTI is longer than ${MAX_FOLDED} characters.`)
  return foldText(fold, text)
}
