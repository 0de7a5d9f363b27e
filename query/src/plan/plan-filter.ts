import { assertNever } from '@wayleave/geodata/base'
import type { Bbox, Column, Geometry } from '@wayleave/geodata/geometry'
import type { Expression } from '../cql2/ast.ts'
import { type ColumnAlias, check } from '../cql2/check/check.ts'
import { columnsOf } from '../cql2/columns-of.ts'
import type { Condition } from '../cql2/condition.ts'
import { type DecideInBox, decideInBox } from '../cql2/evaluate/decide-in-box.ts'
import { evaluator } from '../cql2/evaluate/evaluate.ts'
import type { FeatureValues } from '../cql2/evaluate/feature-values.ts'
import { prepareLiteral } from '../cql2/evaluate/prepare-literal.ts'
import { isSqlOnly, type Parameter, SqlWriter } from './sql/to-sql.ts'

export interface FilterSql {
  where: string
  params: Parameter[]
  /** The columns that the SQL reads, except the derived ones. */
  columns: ReadonlySet<string>
  /**
   * Columns that the SQL reads and that have to be computed from the rows' own columns, each with its SQL.
   */
  derived: ReadonlyMap<string, string>
}

export interface FilterPlan {
  /** The checked filter. */
  condition: Condition
  /** For DuckDB: selects every match, and nothing else if `exact` is null. */
  sql: FilterSql
  /** Every match has a geometry whose box intersects this box; null if no such box is known. */
  bbox: Bbox | null
  /** Tests the features that the SQL selected; null if the SQL alone decides. */
  exact: ((feature: FeatureValues) => boolean) | null
  /**
   * The whole filter as a function, for candidates that do not come from the SQL, such as those of a tree
   * search with `bbox`.
   */
  matches: (feature: FeatureValues) => boolean
  /**
   * If the filter depends only on the geometry: its value for all features in a box. Then the tree and
   * `matches` suffice. Otherwise null.
   */
  decide: DecideInBox | null
}

export interface PlanOptions {
  /** Whether the dataset has a geometry, which is named `geometry`. */
  isSpatial: boolean
  /**
   * Whether the SQL uses sets of positions that the tree can find; true by default. If another condition
   * already bounds the region, `exact` alone is as fast.
   */
  usesTree?: boolean
  /** A further name of one of the columns. */
  alias?: ColumnAlias | null
}

/** Checks a filter against a dataset's columns and plans how to find its features. Throws a Cql2Error. */
export function planFilter(
  expression: Expression,
  columns: readonly Column[],
  options: PlanOptions,
): FilterPlan {
  return planCondition(check(expression, columns, options.isSpatial, options.alias), options)
}

/**
 * Plans a checked filter when a part of the plan other than the condition is first read: writing SQL takes
 * longer than selecting a page by compiled columns, which needs only the condition.
 */
export function planLazily(condition: Condition, options: PlanOptions): FilterPlan {
  return new LazyPlan(condition, options)
}

class LazyPlan implements FilterPlan {
  readonly condition: Condition
  readonly #options: PlanOptions
  #plan: FilterPlan | null = null

  constructor(condition: Condition, options: PlanOptions) {
    this.condition = condition
    this.#options = options
  }

  get sql() {
    return this.#planned.sql
  }

  get bbox() {
    return this.#planned.bbox
  }

  get exact() {
    return this.#planned.exact
  }

  get matches() {
    return this.#planned.matches
  }

  get decide() {
    return this.#planned.decide
  }

  get #planned(): FilterPlan {
    this.#plan ??= planCondition(this.condition, this.#options)
    return this.#plan
  }
}

/** Plans a filter that was checked. */
export function planCondition(condition: Condition, options: PlanOptions): FilterPlan {
  const writer = new SqlWriter()
  const usesTree = options.usesTree ?? true
  const conjuncts = condition.kind === 'and' ? condition.args : [condition]
  const where = conjuncts
    .map((conjunct) => possible(conjunct, true, writer, usesTree))
    .filter((sql) => sql !== 'TRUE')
  const open = conjuncts.filter((conjunct) => !isSqlOnly(conjunct))
  const whole = evaluator(condition)
  const rest = evaluator({ kind: 'and', args: open })
  return {
    condition,
    sql: {
      where: where.length === 0 ? 'TRUE' : where.join(' AND '),
      params: writer.parameters,
      columns: writer.columns,
      derived: writer.derived,
    },
    bbox: boxOf(condition, true),
    exact: open.length === 0 ? null : (feature) => rest(feature) === true,
    matches: (feature) => whole(feature) === true,
    decide: columnsOf(condition).columns.length === 0 ? decideInBox(condition) : null,
  }
}

/**
 * SQL that is true whenever the condition has the value `isTrue`, and otherwise true as rarely as DuckDB can
 * determine. A condition that DuckDB cannot decide is replaced by a weaker one that includes all its matches.
 * NOT inverts this value, so this holds for any nesting.
 */
function possible(condition: Condition, isTrue: boolean, writer: SqlWriter, usesTree: boolean): string {
  if (isSqlOnly(condition)) {
    const sql = writer.condition(condition)
    return isTrue ? sql : `(NOT ${sql})`
  }
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const isStrict = (condition.kind === 'and') === isTrue
      const bound = writer.parameters.length
      const parts = condition.args.map((arg) => possible(arg, isTrue, writer, usesTree))
      if (!isStrict && parts.includes('TRUE')) {
        // DuckDB rejects parameters that the SQL does not use.
        writer.parameters.length = bound
        return 'TRUE'
      }
      const conditions = parts.filter((part) => part !== 'TRUE')
      return conditions.length === 0 ? 'TRUE' : `(${conditions.join(isStrict ? ' AND ' : ' OR ')})`
    }
    case 'not':
      return possible(condition.arg, !isTrue, writer, usesTree)
    case 'spatial':
      return usesTree ? possiblePlaces(condition, isTrue, writer) : 'TRUE'
    // Conditions that neither SQL nor the tree can decide.
    case 'constant':
    case 'compare':
    case 'in':
    case 'like':
    case 'truth':
    case 'isNull':
    case 'array':
      return 'TRUE'
    default:
      return assertNever(condition)
  }
}

/**
 * Max sets of positions per filter. A set takes one bit per feature, so only some of many conditions use one.
 */
const MAX_SETS = 8

function possiblePlaces(
  condition: Condition & { kind: 'spatial' },
  isTrue: boolean,
  writer: SqlWriter,
): string {
  const sets = writer.parameters.filter((parameter) => typeof parameter === 'function')
  if (sets.length >= MAX_SETS) return 'TRUE'
  return writer.isIn(decideInBox(isTrue ? condition : { kind: 'not', arg: condition }))
}

/**
 * Whether the value `isTrue` implies that the geometries share a point. Two empty geometries are equal without
 * sharing one; `extentOf` is null for them.
 */
function meansMeeting({ predicate }: Condition & { kind: 'spatial' }, isTrue: boolean): boolean {
  return (predicate === 'disjoint') !== isTrue
}

function extentOf(geometry: Geometry): Bbox | null {
  const { isEmpty, west, south, east, north } = prepareLiteral(geometry)
  return isEmpty ? null : [west, south, east, north]
}

/**
 * A box that intersects the geometry of every feature for which the condition has the value `isTrue`. If two
 * boxes must both be intersected, the smaller one is used, not their intersection: a large geometry may
 * intersect both boxes but not their intersection.
 */
function boxOf(condition: Condition, isTrue: boolean): Bbox | null {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const boxes = condition.args.map((arg) => boxOf(arg, isTrue))
      const bounds = boxes.filter((box) => box !== null)
      if ((condition.kind === 'and') === isTrue)
        return bounds.toSorted((a, b) => area(a) - area(b))[0] ?? null
      return bounds.length === boxes.length ? bounds.reduce(union) : null
    }
    case 'not':
      return boxOf(condition.arg, !isTrue)
    case 'spatial': {
      const { left, right } = condition
      const shape = left.kind === 'shape' ? left.geometry : right.kind === 'shape' ? right.geometry : null
      return shape === null || !meansMeeting(condition, isTrue) ? null : extentOf(shape)
    }
    case 'constant':
    case 'compare':
    case 'in':
    case 'like':
    case 'truth':
    case 'isNull':
    case 'array':
      return null
    default:
      return assertNever(condition)
  }
}

function area([west, south, east, north]: Bbox): number {
  return (east - west) * (north - south)
}

function union(a: Bbox, b: Bbox): Bbox {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]
}
