/**
 * A checked filter: what `check` makes of the tree, what SQL is written from and what the interpreter runs.
 * It has fewer forms than the language, so that the two have less to agree on: BETWEEN and the temporal
 * functions are comparisons here, types are settled and literals have their final values.
 */
import type { Geometry } from '@wayleave/geodata/feature.ts'
import type { SpatialPredicate } from '@wayleave/geodata/predicates/predicates.ts'
import type { ArrayFunction, Comparison, Fold } from './ast.ts'

export type ScalarType = 'boolean' | 'integer' | 'number' | 'text' | 'date' | 'timestamp'

/** True, false or, where it is unknown, null. */
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

/** The two sides of a comparison have one type. */
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
 * Integers are `bigint`. Dates are `2025-12-31`, timestamps `2025-12-31T23:59:59.5` in UTC; the open ends of
 * intervals are `-infinity` and `infinity`.
 */
export type LiteralValue = string | number | bigint | boolean

/** `^` is a power of the whole exponents that both sides multiply out, or this, which DuckDB never sees. */
export type ArithmeticStep = '+' | '-' | '*' | '/' | '%' | 'div' | '^'

export type Operand = { kind: 'geometry' } | { kind: 'json'; name: string }
export type Spatial = { kind: 'geometry' } | { kind: 'shape'; geometry: Geometry }
export type Elements = { kind: 'json'; name: string } | { kind: 'elements'; items: Element[] }
export type Element = Scalar | { kind: 'elements'; items: Element[] }

/** A type in a sentence for people. */
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
