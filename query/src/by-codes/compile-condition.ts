import type { CompiledColumn } from '@wayleave/geodata/features'
import { columnsOf } from '../cql2/columns-of.ts'
import type { Condition } from '../cql2/condition.ts'
import { evaluator } from '../cql2/evaluate/evaluate.ts'
import { type CodeSet, complement, intersectionOf, unionOf } from './code-set.ts'
import {
  decideCodes,
  type EvaluationBudget,
  evaluationBudget,
  isDecidedByOrder,
  PendingCodes,
} from './decide-codes.ts'
import { MAX_MASKS, type PendingMask } from './place-masks.ts'
import { RowMask } from './row-mask.ts'

/**
 * A set of rows: those for which a filter is true. Unknown is not a value here: a condition was turned into the
 * rows for which it is true and the rows for which it is false, and NOT exchanges the two. See
 * docs/decisions/compiled-columns.md.
 */
export type RowSet =
  | { kind: 'all' }
  | { kind: 'none' }
  /** The rows whose code in this column is in the set. */
  | { kind: 'codes'; column: CompiledColumn; set: CodeSet }
  /** The rows that a condition on the geometry selects. */
  | { kind: 'mask'; mask: RowMask }
  | { kind: 'and' | 'or'; args: RowSet[] }

const ALL: RowSet = { kind: 'all' }
const NONE: RowSet = { kind: 'none' }

/** Thrown inside this file: the condition cannot be decided by codes. */
const UNDECIDED = Symbol('undecided')

/** A part of a filter that has to be evaluated first, because it takes long. */
export type Pending = PendingCodes | PendingMask

/** The rows for which a condition on the geometry alone has the value `isTrue`; null if the database has to decide. */
export type MaskOf = (condition: Condition, isTrue: boolean) => RowMask | PendingMask | null

/**
 * The rows for which a condition is true; null if the database has to decide. Conditions that first have to be
 * evaluated for many values or features are returned instead; call again after their evaluation.
 */
export function compileCondition(
  condition: Condition,
  columns: ReadonlyMap<string, CompiledColumn>,
  maskOf: MaskOf = () => null,
): RowSet | Pending[] | null {
  const work: Work = { columns, maskOf, masks: 0, pending: [], budget: evaluationBudget() }
  try {
    const rows = rowsWhere(condition, true, work)
    if (work.pending.length > 0) return work.pending
    return leavesOf(rows) > MAX_LEAVES ? null : rows
  } catch (error) {
    if (error === UNDECIDED) return null
    throw error
  }
}

interface Work {
  columns: ReadonlyMap<string, CompiledColumn>
  maskOf: MaskOf
  /** How many masks the filter needs so far. */
  masks: number
  pending: Pending[]
  budget: EvaluationBudget
}

/** A filter with more parts than this takes longer by codes than in the database, which has several threads. */
const MAX_LEAVES = 64

function leavesOf(rows: RowSet): number {
  return 'args' in rows ? rows.args.reduce((sum, arg) => sum + leavesOf(arg), 0) : 1
}

function rowsWhere(condition: Condition, isTrue: boolean, work: Work): RowSet {
  switch (condition.kind) {
    case 'constant':
      return condition.value === isTrue ? ALL : NONE
    case 'and':
    case 'or': {
      const args = evaluatedTogether(condition).map((arg) =>
        arg.kind === condition.kind ? decidedRows(arg, isTrue, work) : rowsWhere(arg, isTrue, work),
      )
      return (condition.kind === 'and') === isTrue ? both(args) : either(args)
    }
    case 'not':
      return rowsWhere(condition.arg, !isTrue, work)
    default:
  }
  const { columns: names, geometry } = columnsOf(condition)
  if (geometry && names.length > 0) throw UNDECIDED
  if (geometry) return maskedRows(condition, isTrue, work)
  if (names.length === 0) {
    return evaluator(condition)({ properties: {}, geometry: null }) === isTrue ? ALL : NONE
  }
  if (condition.kind === 'isNull' && isCondition(condition.of)) {
    // Unknown: neither true nor false.
    const decidedRows = either([rowsWhere(condition.of, true, work), rowsWhere(condition.of, false, work)])
    return isTrue ? without(decidedRows) : decidedRows
  }
  return decidedRows(condition, isTrue, work)
}

/**
 * The arguments of AND or OR. Those on the same column that have to be evaluated for each of its values become
 * one condition, so that a value is read and folded once for all of them.
 */
function evaluatedTogether({ kind, args }: Condition & { kind: 'and' | 'or' }): Condition[] {
  const groups = new Map<string, Condition[]>()
  const others: Condition[] = []
  // The parser makes no AND directly inside AND, but two conditions may have been combined.
  for (const arg of args.flatMap((part) => (part.kind === kind ? part.args : [part]))) {
    const { columns, geometry } = columnsOf(arg)
    const isEvaluated = ['like', 'compare', 'in'].includes(arg.kind) && !isDecidedByOrder(arg)
    if (!isEvaluated || geometry || columns.length !== 1) others.push(arg)
    else if (groups.has(columns[0]!)) groups.get(columns[0]!)!.push(arg)
    else groups.set(columns[0]!, [arg])
  }
  for (const group of groups.values()) others.push(group.length === 1 ? group[0]! : { kind, args: group })
  return others
}

/** The rows for which a condition on one column has the value `isTrue`. */
function decidedRows(condition: Condition, isTrue: boolean, work: Work): RowSet {
  const { columns: names } = columnsOf(condition)
  const column = work.columns.get(names[0]!)
  if (names.length > 1 || column === undefined) throw UNDECIDED
  const decided = decideCodes(condition, column, work.budget)
  if (decided === null) throw UNDECIDED
  if (decided instanceof PendingCodes) {
    work.pending.push(decided)
    return NONE
  }
  return codes(column, isTrue ? decided.whenTrue : decided.whenFalse)
}

/** The rows for which a condition on the geometry has the value `isTrue`. */
function maskedRows(condition: Condition, isTrue: boolean, work: Work): RowSet {
  if (++work.masks > MAX_MASKS) throw UNDECIDED
  const mask = work.maskOf(condition, isTrue)
  if (mask === null) throw UNDECIDED
  if (mask instanceof RowMask) return mask.count === 0 ? NONE : { kind: 'mask', mask }
  work.pending.push(mask)
  return NONE
}

function isCondition(of: (Condition & { kind: 'isNull' })['of']): of is Condition {
  return !('type' in of) && of.kind !== 'geometry' && of.kind !== 'json'
}

function codes(column: CompiledColumn, set: CodeSet): RowSet {
  if (set.length === 0) return NONE
  if (set.length === 2 && set[0] === 0 && set[1] === column.codeCount) return ALL
  return { kind: 'codes', column, set }
}

function both(args: RowSet[]): RowSet {
  return combined(args, 'and')
}

function either(args: RowSet[]): RowSet {
  return combined(args, 'or')
}

/** Combines sets; those of the same column become one, so that BETWEEN is one range. */
function combined(args: RowSet[], kind: 'and' | 'or'): RowSet {
  const [neutral, deciding] = kind === 'and' ? [ALL, NONE] : [NONE, ALL]
  const parts: RowSet[] = []
  const sets = new Map<CompiledColumn, CodeSet[]>()
  for (const arg of args.flatMap((part) => (part.kind === kind ? part.args : [part]))) {
    if (arg.kind === deciding.kind) return deciding
    if (arg.kind === neutral.kind) continue
    if (arg.kind === 'codes') addTo(sets, arg)
    else parts.push(arg)
  }
  for (const [column, all] of sets) {
    const merged = codes(column, kind === 'and' ? intersectionOf(all, column.codeCount) : unionOf(all))
    if (merged.kind === deciding.kind) return deciding
    if (merged.kind !== neutral.kind) parts.push(merged)
  }
  if (parts.length === 0) return neutral
  return parts.length === 1 ? parts[0]! : { kind, args: parts }
}

function addTo(sets: Map<CompiledColumn, CodeSet[]>, { column, set }: RowSet & { kind: 'codes' }): void {
  const others = sets.get(column)
  if (others) others.push(set)
  else sets.set(column, [set])
}

function without(rows: RowSet): RowSet {
  switch (rows.kind) {
    case 'all':
      return NONE
    case 'none':
      return ALL
    case 'codes':
      return codes(rows.column, complement(rows.set, rows.column.codeCount))
    case 'mask':
      // It occurs only in IS NULL of a condition on the geometry, which is rare.
      throw UNDECIDED
    case 'and':
      return either(rows.args.map(without))
    case 'or':
      return both(rows.args.map(without))
  }
}
