import { assertNever } from '@wayleave/geodata/base'
import type { Geometry } from '@wayleave/geodata/geometry'
import type { Condition, Element, Scalar } from './condition.ts'

/** The distinct columns that a condition reads, whether it reads the geometry, and the geometries that it contains. */
export function columnsOf(condition: Condition): {
  columns: string[]
  geometry: boolean
  shapes: ReadonlySet<Geometry>
} {
  const columns = new Set<string>()
  const shapes = new Set<Geometry>()
  let geometry = false
  const visit = (part: Part): void => {
    if ('name' in part) columns.add(part.name)
    if (part.kind === 'geometry') geometry = true
    if (part.kind === 'shape') shapes.add(part.geometry)
    for (const child of childrenOf(part)) visit(child)
  }
  visit(condition)
  return { columns: [...columns], geometry, shapes }
}

type Operand = { kind: 'geometry' } | { kind: 'json'; name: string } | { kind: 'shape'; geometry: Geometry }
type Part = Condition | Scalar | Element | Operand

function childrenOf(part: Part): Part[] {
  switch (part.kind) {
    case 'and':
    case 'or':
      return part.args
    case 'not':
      return [part.arg]
    case 'compare':
    case 'arithmetic':
    case 'spatial':
    case 'array':
      return [part.left, part.right]
    case 'in':
      return [part.left, ...part.items]
    case 'elements':
      return part.items
    case 'like':
      return [part.text]
    case 'power':
      return [part.base]
    case 'truth':
    case 'isNull':
    case 'toNumber':
    case 'toDate':
    case 'fold':
    case 'condition':
      return [part.of]
    case 'constant':
    case 'literal':
    case 'column':
    case 'geometry':
    case 'json':
    case 'shape':
      return []
    default:
      return assertNever(part)
  }
}
