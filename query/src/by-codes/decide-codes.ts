import { BoundedCache } from '@wayleave/geodata/base'
import type { CompiledColumn } from '@wayleave/geodata/features'
import type { Comparison } from '../cql2/ast.ts'
import type { Condition, Scalar } from '../cql2/condition.ts'
import { evaluator } from '../cql2/evaluate/evaluate.ts'
import { boundOf, keyOf } from './code-bounds.ts'
import { type CodeSet, codeRange, complement, unionOf } from './code-set.ts'

/** The codes for which a condition on one column is true, and those for which it is false. */
export interface DecidedCodes {
  whenTrue: CodeSet
  whenFalse: CodeSet
}

/** Up to this many distinct values, the interpreter itself evaluates a condition for each of them. */
const MAX_EVALUATED = 65_536
/** For how long one filter evaluates values synchronously, in ms. */
const SYNC_MS = 1
/** Values that are evaluated between two looks at the clock: long texts take long. */
const STEP = 16
/** The max number of values that one filter evaluates in all. */
const MAX_IN_ALL = 1 << 20
/** The numbers in the remembered results of a column, which is enough for those of one filter: 32 MB. */
const MAX_REMEMBERED = 4 * MAX_IN_ALL

const remembered = new WeakMap<CompiledColumn, BoundedCache<string, DecidedCodes>>()

/** The time until which the conditions of one filter evaluate synchronously, and how many values they have. */
export interface EvaluationBudget {
  until: number
  inAll: number
}

export function evaluationBudget(): EvaluationBudget {
  return { until: performance.now() + SYNC_MS, inAll: 0 }
}

/** A condition that has to be evaluated for many values, in time slices. */
export class PendingCodes {
  readonly column: CompiledColumn
  readonly #walk: ValueWalk
  readonly #key: string

  constructor(column: CompiledColumn, walk: ValueWalk, key: string) {
    this.column = column
    this.#walk = walk
    this.#key = key
  }

  /** Evaluates the rest of the values and remembers the result; `pause` is called after every few of them. */
  async evaluate(pause: () => Promise<void>): Promise<void> {
    while (!this.#walk.advance()) await pause()
    remember(this.column, this.#key, this.#walk.decided())
  }
}

/** Whether the order of a column's values decides a condition on it, without looking at each of them. */
export function isDecidedByOrder(condition: Condition): boolean {
  switch (condition.kind) {
    case 'compare': {
      const { left, right } = condition
      return (
        (left.kind === 'column' && right.kind === 'literal') ||
        (right.kind === 'column' && left.kind === 'literal')
      )
    }
    case 'in':
      return condition.left.kind === 'column' && condition.items.every(isLiteral)
    case 'truth':
    case 'isNull':
      return condition.of.kind === 'column'
    default:
      return false
  }
}

/**
 * Decides a condition that reads only this column; null if its dictionary is too large for the interpreter
 * and the condition is not a comparison with literals.
 */
export function decideCodes(
  condition: Condition,
  column: CompiledColumn,
  budget: EvaluationBudget,
): DecidedCodes | PendingCodes | null {
  const { codeCount } = column
  const valueCodes = codeRange(1, codeCount)
  const decided = (whenTrue: CodeSet): DecidedCodes => ({
    whenTrue,
    // Null is neither.
    whenFalse: complement(unionOf([codeRange(0, 1), whenTrue]), codeCount),
  })
  switch (condition.kind) {
    case 'compare': {
      const { op, left, right } = condition
      if (left.kind === 'column' && right.kind === 'literal') return decided(compared(column, op, right))
      if (right.kind === 'column' && left.kind === 'literal')
        return decided(compared(column, MIRRORED[op], left))
      break
    }
    case 'in': {
      if (condition.left.kind !== 'column' || !condition.items.every(isLiteral)) break
      const sets = condition.items.map((item) => compared(column, '=', item as Literal))
      return decided(unionOf(sets))
    }
    case 'truth':
      if (condition.of.kind === 'column') {
        return decided(compared(column, '=', { kind: 'literal', type: 'boolean', value: true }))
      }
      break
    case 'isNull':
      if (condition.of.kind === 'column') return { whenTrue: codeRange(0, 1), whenFalse: valueCodes }
      break
    default:
  }
  return evaluated(condition, column, budget)
}

type Literal = Scalar & { kind: 'literal' }

function isLiteral(scalar: Scalar): boolean {
  return scalar.kind === 'literal'
}

const MIRRORED: Record<Comparison, Comparison> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

function compared(column: CompiledColumn, op: Comparison, literal: Literal): CodeSet {
  const key = keyOf(literal)
  const { codeCount } = column
  switch (op) {
    case '<':
      return codeRange(1, boundOf(column, key, false))
    case '<=':
      return codeRange(1, boundOf(column, key, true))
    case '>':
      return codeRange(boundOf(column, key, true), codeCount)
    case '>=':
      return codeRange(boundOf(column, key, false), codeCount)
    case '=':
      return codeRange(boundOf(column, key, false), boundOf(column, key, true))
    case '<>':
      return unionOf([
        codeRange(1, boundOf(column, key, false)),
        codeRange(boundOf(column, key, true), codeCount),
      ])
  }
}

function evaluated(
  condition: Condition,
  column: CompiledColumn,
  budget: EvaluationBudget,
): DecidedCodes | PendingCodes | null {
  const { codeCount } = column
  if (codeCount > MAX_EVALUATED + 1) return null
  const key = JSON.stringify(condition, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
  const cachedCodes = remembered.get(column)?.get(key)
  if (cachedCodes) return cachedCodes
  budget.inAll += codeCount
  if (budget.inAll > MAX_IN_ALL) return null
  const walk = new ValueWalk(column, condition)
  do {
    if (performance.now() > budget.until) return new PendingCodes(column, walk, key)
  } while (!walk.advance())
  const decided = walk.decided()
  remember(column, key, decided)
  return decided
}

/** Evaluates a condition for one value after another, null first. */
class ValueWalk {
  readonly #column: CompiledColumn
  readonly #test: ReturnType<typeof evaluator>
  readonly #whenTrue: number[] = []
  readonly #whenFalse: number[] = []
  #code = 0

  constructor(column: CompiledColumn, condition: Condition) {
    this.#column = column
    this.#test = evaluator(condition)
  }

  /** Evaluates a few values; returns whether all are done. */
  advance(): boolean {
    const { name, codeCount } = this.#column
    const end = Math.min(codeCount, this.#code + STEP)
    for (; this.#code < end; this.#code++) {
      const value = this.#column.value(this.#code)
      const result = this.#test({ properties: { [name]: value }, geometry: null })
      if (result !== null) addCode(result ? this.#whenTrue : this.#whenFalse, this.#code)
    }
    return this.#code === codeCount
  }

  decided(): DecidedCodes {
    return { whenTrue: this.#whenTrue, whenFalse: this.#whenFalse }
  }
}

function addCode(set: number[], code: number): void {
  if (set.length > 0 && set[set.length - 1] === code) set[set.length - 1] = code + 1
  else set.push(code, code + 1)
}

function remember(column: CompiledColumn, key: string, decided: DecidedCodes): void {
  let cache = remembered.get(column)
  if (!cache) {
    cache = new BoundedCache(MAX_REMEMBERED, weightOf)
    remembered.set(column, cache)
  }
  cache.set(key, decided)
}

/** In numbers of eight bytes. The key has the text of the condition, which may be longer than what was decided. */
function weightOf({ whenTrue, whenFalse }: DecidedCodes, key: string): number {
  return whenTrue.length + whenFalse.length + Math.ceil(key.length / 8) + 100
}
