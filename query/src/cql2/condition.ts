/**
 * A checked filter: `check` produces it from the syntax tree, SQL is generated from it, and the interpreter
 * evaluates it. It has fewer node kinds than the language, so that SQL and interpreter have less to agree on:
 * BETWEEN and the temporal functions are comparisons here, types are resolved and literals have their final
 * values.
 */
import type { Geometry, SpatialPredicate } from '@wayleave/geodata/geometry'
import type { ArrayFunction, Comparison, Fold } from './ast.ts'

export type ScalarType = 'boolean' | 'integer' | 'number' | 'text' | 'date' | 'timestamp'

/** Evaluates to true, false or, if unknown, null. */
export type Condition =
  | { kind: 'constant'; value: boolean }
  | { kind: 'and'; args: Condition[] }
  | { kind: 'or'; args: Condition[] }
  | { kind: 'not'; arg: Condition }
  | { kind: 'compare'; op: Comparison; left: Scalar; right: Scalar }
  | { kind: 'in'; left: Scalar; items: Scalar[] }
  | { kind: 'like'; text: Scalar; pattern: string }
  | { kind: 'truth'; of: Scalar }
  | { kind: 'isNull'; of: Scalar | Operand | Condition }
  | { kind: 'spatial'; predicate: SpatialPredicate; left: Spatial; right: Spatial }
  | { kind: 'array'; op: ArrayFunction; left: Elements; right: Elements }

/** Both sides of a comparison have the same type. */
export type Scalar =
  | { kind: 'literal'; type: ScalarType; value: LiteralValue }
  | { kind: 'column'; type: ScalarType; name: string }
  | { kind: 'arithmetic'; type: 'integer' | 'number'; op: ArithmeticStep; left: Scalar; right: Scalar }
  | { kind: 'power'; type: 'number'; base: Scalar; exponent: number }
  | { kind: 'toNumber'; type: 'number'; of: Scalar }
  | { kind: 'toDate'; type: 'date'; of: Scalar }
  | { kind: 'fold'; type: 'text'; fold: Fold; of: Scalar }
  | { kind: 'condition'; type: 'boolean'; of: Condition }

/**
 * Integers are `bigint`. Dates are `2025-12-31`, timestamps `2025-12-31T23:59:59.5` in UTC. Open ends of
 * intervals are `-infinity` and `infinity`.
 */
export type LiteralValue = string | number | bigint | boolean

/**
 * A power with a small integer exponent is a `power` node, which SQL and interpreter expand to
 * multiplications. `^` is any other power, which is never sent to DuckDB.
 */
export type ArithmeticStep = '+' | '-' | '*' | '/' | '%' | 'div' | '^'

export type Operand = { kind: 'geometry' } | { kind: 'json'; name: string }
export type Spatial = { kind: 'geometry' } | { kind: 'shape'; geometry: Geometry }
export type Elements = { kind: 'json'; name: string } | { kind: 'elements'; items: Element[] }
export type Element = Scalar | { kind: 'elements'; items: Element[] } | { kind: 'shape'; geometry: Geometry }

/** The name of a type in an error message. */
export function typeName(type: ScalarType | 'json' | 'geometry'): string {
  const names = {
    boolean: 'a truth value',
    integer: 'an integer',
    number: 'a number',
    text: 'text',
    date: 'a date',
    timestamp: 'a timestamp',
    json: 'a nested value',
    geometry: 'a geometry',
  }
  return names[type]
}
