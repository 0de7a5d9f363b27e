import type { Value } from '@wayleave/geodata/geometry'
import type { ArrayFunction } from '../ast.ts'
import type { Condition, Element, Elements, Scalar } from '../condition.ts'
import type { FeatureValues, Reader, ScalarValue, Test } from './feature-values.ts'

/** Compiles a scalar to a function; passed in, because evaluate.ts imports this file. */
type CompileScalar = (scalar: Scalar) => Reader<ScalarValue>

const RELATIONS: Record<ArrayFunction, (a: Set<string>, b: Set<string>) => boolean> = {
  a_equals: (a, b) => holds(a, b) && holds(b, a),
  a_contains: holds,
  a_containedBy: (a, b) => holds(b, a),
  a_overlaps: (a, b) => [...a].some((element) => b.has(element)),
}

function holds(set: Set<string>, subset: Set<string>): boolean {
  return [...subset].every((element) => set.has(element))
}

/** Arrays are compared as sets. If a nested value is not an array, the result is unknown. */
export function evaluateArray(
  { op, left, right }: Condition & { kind: 'array' },
  compile: CompileScalar,
): Test {
  const a = elementsReader(left, compile)
  const b = elementsReader(right, compile)
  return (feature) => {
    const one = a(feature)
    const other = b(feature)
    return one === null || other === null ? null : RELATIONS[op](one, other)
  }
}

function elementsReader(elements: Elements, compile: CompileScalar): Reader<Set<string>> {
  if (elements.kind === 'json') {
    return ({ properties }) => {
      const value = properties[elements.name]
      return Array.isArray(value) ? new Set(value.map(key)) : null
    }
  }
  const items = elements.items.map((item) => elementReader(item, compile))
  return (feature) => new Set(items.map((item) => item(feature)))
}

function elementReader(element: Element, compile: CompileScalar): (feature: FeatureValues) => string {
  if (element.kind === 'elements') {
    const items = element.items.map((item) => elementReader(item, compile))
    return (feature) => `[${items.map((item) => item(feature)).join(',')}]`
  }
  if (element.kind === 'shape') {
    // A geometry equals a nested value that is the same GeoJSON object.
    const text = key(element.geometry as unknown as Value)
    return () => text
  }
  const read = compile(element)
  // Nested values hold timestamps as text with a trailing Z.
  if (element.type === 'timestamp') return (feature) => key(`${read(feature)}Z`)
  return (feature) => key(read(feature))
}

/**
 * A string that is equal for equal values: numbers are compared by value, whether integers are bigint or
 * number.
 */
function key(value: Value): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : String(value)
  if (Array.isArray(value)) return `[${value.map(key).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${key(value[name]!)}`).join(',')}}`
}
