import { assertNever } from '@wayleave/geodata/base'
import { EXTERIOR, INTERIOR, locateBox, type SpatialPredicate } from '@wayleave/geodata/geometry'
import { columnsOf } from '../columns-of.ts'
import type { Condition } from '../condition.ts'
import { evaluator } from './evaluate.ts'
import { prepareLiteral } from './prepare-literal.ts'

/**
 * The value of a condition for every feature whose geometry is neither missing nor empty and lies in a box:
 * true, false, unknown (null), or undefined if the box does not determine it.
 */
export type DecideInBox = (
  west: number,
  south: number,
  east: number,
  north: number,
) => boolean | null | undefined

export function decideInBox(condition: Condition): DecideInBox {
  switch (condition.kind) {
    case 'and':
      return decideAll(condition.args.map(decideInBox), false)
    case 'or':
      return decideAll(condition.args.map(decideInBox), true)
    case 'not': {
      const arg = decideInBox(condition.arg)
      return (...box) => {
        const value = arg(...box)
        return typeof value === 'boolean' ? !value : value
      }
    }
    case 'spatial':
      return decideSpatial(condition)
    case 'isNull':
      return condition.of.kind === 'geometry' ? () => false : decideConstant(condition)
    case 'constant':
    case 'compare':
    case 'in':
    case 'like':
    case 'truth':
    case 'array':
      return decideConstant(condition)
    default:
      return assertNever(condition)
  }
}

function decideAll(parts: DecideInBox[], deciding: boolean): DecideInBox {
  return (...box) => {
    let result: boolean | null | undefined = !deciding
    for (const part of parts) {
      const value = part(...box)
      if (value === deciding) return deciding
      if (value === undefined) result = undefined
      else if (value === null && result !== undefined) result = null
    }
    return result
  }
}

function decideConstant(condition: Condition): DecideInBox {
  const { columns, geometry } = columnsOf(condition)
  if (geometry || columns.length > 0) return () => undefined
  const value = evaluator(condition)({ properties: {}, geometry: null })
  return () => value
}

/**
 * The predicates that hold between a geometry that lies completely in the interior of another one, and that
 * one.
 */
const TRUE_INSIDE: ReadonlySet<SpatialPredicate> = new Set(['intersects', 'within'])
/** The predicates that hold in the opposite direction, from the surrounding geometry to the inner one. */
const TRUE_AROUND: ReadonlySet<SpatialPredicate> = new Set(['intersects', 'contains'])

function decideSpatial({ predicate, left, right }: Condition & { kind: 'spatial' }): DecideInBox {
  const shape = left.kind === 'shape' ? left : right
  if (shape.kind !== 'shape') return () => undefined
  const prepared = prepareLiteral(shape.geometry)
  const isTrueInside = (shape === right ? TRUE_INSIDE : TRUE_AROUND).has(predicate)
  return (...box) => {
    const location = locateBox(prepared, ...box)
    if (location === EXTERIOR) return predicate === 'disjoint'
    return location === INTERIOR ? isTrueInside : undefined
  }
}
