import type { Bound, Expression } from '../ast.ts'

/**
 * Prints canonical CQL2 JSON: equal filters give equal text, so it is a key that a cursor can be bound to.
 */
export function printJson(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'bigint'
        ? String(expression.value)
        : JSON.stringify(expression.value)
    case 'date':
      return JSON.stringify({ date: expression.value })
    case 'timestamp':
      return JSON.stringify({ timestamp: `${expression.value}Z` })
    case 'interval':
      return `{"interval":[${jsonBound(expression.start)},${jsonBound(expression.end)}]}`
    case 'geometry':
      return JSON.stringify(expression.geometry)
    case 'bbox':
      return JSON.stringify({ bbox: expression.bounds })
    case 'array':
      return `[${expression.items.map(printJson).join(',')}]`
    case 'property':
      return JSON.stringify({ property: expression.name })
    case 'call':
      return `{"op":${JSON.stringify(expression.op)},"args":[${expression.args.map(printJson).join(',')}]}`
  }
}

function jsonBound(bound: Bound): string {
  return bound === null ? '".."' : printJson(bound)
}
