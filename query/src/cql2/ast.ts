/**
 * The syntax tree of CQL2 (OGC 21-065r2), the language of the `filter` parameter. CQL2 text and CQL2 JSON are
 * parsed to the same tree.
 *
 * Supported:
 * - comparisons `=` `<>` `<` `<=` `>` `>=`, LIKE, BETWEEN, IN, IS NULL, each with NOT, between any two
 *   expressions of comparable types: property and literal, property and property, literal and literal;
 * - AND, OR, NOT in three-valued logic: a feature is selected only if the filter is true, not if it is
 *   unknown;
 * - CASEI (full Unicode case folding) and ACCENTI;
 * - arithmetic `+` `-` `*` `/` `%` DIV `^`: exact on integers, IEEE doubles otherwise; a result without a
 *   finite value (division by zero, overflow) is null;
 * - the eight spatial functions, exact, on all geometry types and BBOX;
 * - the fifteen temporal functions on instants and intervals. Those that the standard defines only for
 *   intervals reject instants. If a date is compared with a timestamp, both are compared as dates in UTC;
 * - the four array functions on columns of nested values, with scalars, arrays and geometries as elements. A
 *   geometry equals a nested value that is the same GeoJSON object.
 *
 * Not supported: any other functions. The server lists the resulting conformance classes.
 *
 * The path from a filter to features: `parse-text` or `parse-json` → this tree → `check` against the
 * dataset's columns → `condition` → `plan-filter`, which produces SQL for what DuckDB can decide and a
 * function for the rest. Most filters need neither: `by-codes` decides their conditions by the compiled
 * columns before that.
 */
import type { Geometry } from '@wayleave/geodata/geometry'

/** `at` is the node's location in the source, for error messages. */
export type Expression =
  | { kind: 'literal'; value: string | number | bigint | boolean; at: string }
  | { kind: 'date'; value: string; at: string }
  | { kind: 'timestamp'; value: string; at: string }
  | { kind: 'interval'; start: Bound; end: Bound; at: string }
  | { kind: 'geometry'; geometry: Geometry; at: string }
  | { kind: 'bbox'; bounds: number[]; at: string }
  | { kind: 'array'; items: Expression[]; at: string }
  | { kind: 'property'; name: string; at: string }
  | { kind: 'call'; op: Operation; args: Expression[]; at: string }

/** An end of an interval; null if it is open. */
export type Bound = Expression | null

export const COMPARISONS = ['=', '<>', '<', '<=', '>', '>='] as const
export const ARITHMETIC = ['+', '-', '*', '/', '%', 'div', '^'] as const
export const SPATIAL = [
  's_intersects',
  's_equals',
  's_disjoint',
  's_touches',
  's_within',
  's_overlaps',
  's_crosses',
  's_contains',
] as const
export const TEMPORAL = [
  't_after',
  't_before',
  't_contains',
  't_disjoint',
  't_during',
  't_equals',
  't_finishedBy',
  't_finishes',
  't_intersects',
  't_meets',
  't_metBy',
  't_overlappedBy',
  't_overlaps',
  't_startedBy',
  't_starts',
] as const
export const ARRAY = ['a_equals', 'a_contains', 'a_containedBy', 'a_overlaps'] as const
export const FOLDS = ['casei', 'accenti'] as const

export type Comparison = (typeof COMPARISONS)[number]
export type Arithmetic = (typeof ARITHMETIC)[number]
export type SpatialFunction = (typeof SPATIAL)[number]
export type TemporalFunction = (typeof TEMPORAL)[number]
export type ArrayFunction = (typeof ARRAY)[number]
export type Fold = (typeof FOLDS)[number]
export type Operation =
  | 'and'
  | 'or'
  | 'not'
  | 'like'
  | 'between'
  | 'in'
  | 'isNull'
  | Comparison
  | Arithmetic
  | SpatialFunction
  | TemporalFunction
  | ArrayFunction
  | Fold

/** The min and max number of arguments of an operation; the max is null if there is no upper limit. */
export const ARITY: Record<Operation, [min: number, max: number | null]> = {
  and: [2, null],
  or: [2, null],
  not: [1, 1],
  like: [2, 2],
  between: [3, 3],
  in: [2, 2],
  isNull: [1, 1],
  casei: [1, 1],
  accenti: [1, 1],
  ...(Object.fromEntries(
    [...COMPARISONS, ...ARITHMETIC, ...SPATIAL, ...TEMPORAL, ...ARRAY].map((op) => [op, [2, 2]]),
  ) as Record<
    Comparison | Arithmetic | SpatialFunction | TemporalFunction | ArrayFunction,
    [number, number]
  >),
}

const BY_LOWER_CASE = new Map(Object.keys(ARITY).map((op) => [op.toLowerCase(), op as Operation]))

/** The operation with this name; function names are case-insensitive. */
export function operationNamed(name: string): Operation | undefined {
  return BY_LOWER_CASE.get(name.toLowerCase())
}

/** Limits on the work that a filter can cause. */
export interface Limits {
  /** Max characters of the source. */
  length: number
  /** Max nesting depth of expressions. */
  depth: number
  /** Max number of operations, literals and properties. */
  nodes: number
  /** Max number of positions of all geometries together. */
  positions: number
}

export const DEFAULT_LIMITS: Limits = { length: 65_536, depth: 64, nodes: 4_096, positions: 16_384 }
