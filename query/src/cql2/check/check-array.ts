import type { Expression } from '../ast.ts'
import { type Element, type Elements, typeName } from '../condition.ts'
import { Cql2Error } from '../cql2-error.ts'
import { boxGeometry } from '../parse/literals.ts'
import { checkScalar, type Queryables } from './check-scalar.ts'

export function checkElements(expression: Expression, queryables: Queryables): Elements {
  if (expression.kind === 'array') return elements(expression.items, queryables)
  if (expression.kind !== 'property') throw new Cql2Error(`The value ${expression.at} is not an array.`)
  const column = queryables.columns.get(expression.name)
  if (column?.type === 'json') return { kind: 'json', name: column.name }
  if (column !== undefined) {
    throw new Cql2Error(
      `The property ${column.name} ${expression.at} is ${typeName(column.type)}, not an array.`,
    )
  }
  throw new Cql2Error(`The property ${expression.name} ${expression.at} is not one of this collection's.`)
}

function elements(items: Expression[], queryables: Queryables): Elements & { kind: 'elements' } {
  const element = (item: Expression): Element => {
    if (item.kind === 'array') return elements(item.items, queryables)
    if (item.kind === 'geometry') return { kind: 'shape', geometry: item.geometry }
    if (item.kind === 'bbox') return { kind: 'shape', geometry: boxGeometry(item.bounds) }
    return checkScalar(item, queryables)
  }
  return { kind: 'elements', items: items.map(element) }
}
