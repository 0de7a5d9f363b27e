import { assertNever } from '@wayleave/geodata/base'
import { type Column, RelationBudget, type SpatialPredicate } from '@wayleave/geodata/geometry'
import { ARRAY, COMPARISONS, type Expression, SPATIAL, type SpatialFunction, TEMPORAL } from '../ast.ts'
import { type Condition, type Operand, type Scalar, type Spatial, typeName } from '../condition.ts'
import { Cql2Error } from '../cql2-error.ts'
import { boundedRelation } from '../evaluate/bounded-relation.ts'
import { checkPattern } from '../evaluate/like.ts'
import { boxGeometry } from '../parse/literals.ts'
import { checkElements } from './check-array.ts'
import { checkScalar, foldLiteral, isOneOf, isScalarOperation, type Queryables } from './check-scalar.ts'
import { checkTemporal } from './check-temporal.ts'
import { compared } from './unify.ts'

/** In all relations between two literals of a filter, the max number of points where they meet. */
const MAX_LITERAL_POINTS = 100

/**
 * Type-checks a filter against a dataset's columns. Unknown properties and comparisons of incompatible types
 * throw a Cql2Error.
 */
export function check(
  expression: Expression,
  columns: readonly Column[],
  isSpatial: boolean,
  alias: ColumnAlias | null = null,
): Condition {
  const queryables: Queryables = {
    columns: new Map(columns.map((column) => [column.name, column])),
    isSpatial,
    literalRelations: new RelationBudget(MAX_LITERAL_POINTS),
    checkCondition: (nested) => checkCondition(nested, queryables),
  }
  if (alias) queryables.columns.set(alias.name, alias.column)
  return checkCondition(expression, queryables)
}

/** A further name of a column. */
export interface ColumnAlias {
  name: string
  column: Column
}

function checkCondition(expression: Expression, queryables: Queryables): Condition {
  if (expression.kind === 'literal' && typeof expression.value === 'boolean') {
    return { kind: 'constant', value: expression.value }
  }
  if (expression.kind !== 'call') return truth(expression, queryables)
  const { op, args, at } = expression
  const condition = (arg: Expression) => checkCondition(arg, queryables)
  const scalar = (arg: Expression) => checkScalar(arg, queryables)
  if (op === 'and' || op === 'or') return { kind: op, args: args.map(condition) }
  if (op === 'not') return { kind: 'not', arg: condition(args[0]!) }
  if (isOneOf(COMPARISONS, op)) return compared(op, scalar(args[0]!), scalar(args[1]!), at)
  if (op === 'between') return between(args.map(scalar) as [Scalar, Scalar, Scalar], at)
  if (op === 'in') return inList(scalar(args[0]!), args[1]!, queryables)
  if (op === 'like') return like(scalar(args[0]!), args[1]!, at)
  if (op === 'isNull') return { kind: 'isNull', of: nullable(args[0]!, queryables) }
  if (isOneOf(SPATIAL, op)) return spatial(op, args, queryables)
  if (isOneOf(TEMPORAL, op)) return checkTemporal(op, args, queryables, at)
  if (isOneOf(ARRAY, op)) {
    const [left, right] = args.map((arg) => checkElements(arg, queryables))
    return { kind: 'array', op, left: left!, right: right! }
  }
  if (isScalarOperation(op)) return truth(expression, queryables)
  return assertNever(op)
}

function truth(expression: Expression, queryables: Queryables): Condition {
  const of = checkScalar(expression, queryables)
  if (of.type !== 'boolean') {
    throw new Cql2Error(`The value ${expression.at} is ${typeName(of.type)}, but a condition is expected.`)
  }
  return of.kind === 'condition' ? of.of : { kind: 'truth', of }
}

function between([value, from, to]: [Scalar, Scalar, Scalar], at: string): Condition {
  return { kind: 'and', args: [compared('>=', value, from, at), compared('<=', value, to, at)] }
}

function inList(left: Scalar, list: Expression, queryables: Queryables): Condition {
  if (list.kind !== 'array' || list.items.length === 0)
    throw new Cql2Error(`The list of IN ${list.at} is empty.`)
  const args = list.items.map((item) => compared('=', left, checkScalar(item, queryables), item.at))
  // An integer never equals a fraction, so `compared` has replaced such an item by another condition.
  const items = args.flatMap((arg) => {
    return arg.kind === 'compare' && arg.op === '=' && arg.left === left && arg.right !== left
      ? [arg.right]
      : []
  })
  return items.length === args.length ? { kind: 'in', left, items } : { kind: 'or', args }
}

function like(text: Scalar, pattern: Expression, at: string): Condition {
  if (text.type !== 'text') throw new Cql2Error(`LIKE ${at} is for text and not for ${typeName(text.type)}.`)
  return { kind: 'like', text, pattern: checkPattern(patternText(pattern), pattern.at) }
}

function patternText(pattern: Expression): string {
  if (pattern.kind === 'literal' && typeof pattern.value === 'string') return pattern.value
  if (pattern.kind === 'call' && (pattern.op === 'casei' || pattern.op === 'accenti')) {
    return foldLiteral(pattern.op, patternText(pattern.args[0]!))
  }
  throw new Cql2Error(`The pattern of LIKE ${pattern.at} is not a text in quotes.`)
}

function nullable(expression: Expression, queryables: Queryables): Scalar | Operand | Condition {
  if (expression.kind === 'property') {
    if (expression.name === 'geometry' && queryables.isSpatial) return { kind: 'geometry' }
    if (queryables.columns.get(expression.name)?.type === 'json')
      return { kind: 'json', name: expression.name }
  }
  if (expression.kind === 'geometry' || expression.kind === 'bbox') return { kind: 'constant', value: true }
  if (expression.kind === 'call') {
    const scalar = checkScalar(expression, queryables)
    return scalar.kind === 'condition' ? scalar.of : scalar
  }
  return checkScalar(expression, queryables)
}

function spatial(op: SpatialFunction, args: Expression[], queryables: Queryables): Condition {
  const [left, right] = args.map((arg) => spatialOperand(arg, queryables)) as [Spatial, Spatial]
  const predicate = op.slice(2) as SpatialPredicate
  if (left.kind === 'shape' && right.kind === 'shape') {
    return {
      kind: 'constant',
      value: boundedRelation(predicate, left.geometry, right.geometry, queryables.literalRelations),
    }
  }
  return { kind: 'spatial', predicate, left, right }
}

function spatialOperand(expression: Expression, queryables: Queryables): Spatial {
  if (expression.kind === 'geometry') return { kind: 'shape', geometry: expression.geometry }
  if (expression.kind === 'bbox') return { kind: 'shape', geometry: boxGeometry(expression.bounds) }
  if (expression.kind === 'property' && expression.name === 'geometry' && queryables.isSpatial) {
    return { kind: 'geometry' }
  }
  if (expression.kind === 'property') {
    const isKnown = queryables.columns.has(expression.name)
    throw new Cql2Error(
      isKnown
        ? `The property ${expression.name} ${expression.at} is not a geometry.`
        : `The property ${expression.name} ${expression.at} is not one of this collection's.`,
    )
  }
  throw new Cql2Error(`The value ${expression.at} is not a geometry.`)
}
