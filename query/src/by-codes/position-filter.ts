import { BLOCK_ROWS, BLOCK_SHIFT, type CompiledColumn } from '@wayleave/geodata/features'
import {
  combineMasks,
  countRange,
  fillRange,
  fillTable,
  keepMasked,
  keepRange,
  positionsOfMask,
} from './code-loops.ts'
import { type CodeSet, countPositions, hasCode } from './code-set.ts'
import type { PositionExpression } from './compile-condition.ts'
import { distinctFrom, firstAtLeast } from './position-lists.ts'
import { ALL_POSITIONS, NO_POSITIONS, SOME_POSITIONS } from './position-mask.ts'

type CodesExpression = PositionExpression & { kind: 'codes' }

/** Max candidates that are kept with the filter. */
const MAX_KEPT = 128

/** Tests positions against a set of positions: single ones, and blocks of them. */
export class PositionFilter {
  readonly expression: PositionExpression
  /** How many positions are expected to match, as a fraction, if columns are independent. */
  readonly fraction: number
  /** Candidates that include all matches: the positions of these codes, which are `candidateCount` together. */
  readonly candidates: readonly CodesExpression[] | null
  readonly candidateCount: number
  /** The sets that a position must all be in; the one with the fewest positions is the first. */
  readonly #conjuncts: readonly PositionExpression[]
  #matches: ((position: number) => boolean) | null = null
  #keptCandidates: Uint32Array | null = null

  /** `count` is the number of all positions. */
  constructor(expression: PositionExpression, count: number) {
    this.expression = expression
    this.#conjuncts = expression.kind === 'and' ? bySelectivity(expression.args, count) : [expression]
    this.fraction = fractionOf(expression, Math.max(1, count))
    this.candidates = candidatesOf(expression)
    this.candidateCount = this.candidates ? total(this.candidates) : count
  }

  get matches(): (position: number) => boolean {
    this.#matches ??= tester(this.expression)
    return this.#matches
  }

  /** Whether positions can be tested: all columns are loaded with their codes. */
  get hasCodes(): boolean {
    return this.expression.kind !== 'codes' || this.expression.column.hasCodes
  }

  /** Whether the candidates are the matches. */
  get areCandidatesExact(): boolean {
    return this.expression.kind === 'codes' || this.expression.kind === 'none'
  }

  /** The number of matches, if it follows from the posting lists or a mask; null otherwise. */
  get exactCount(): number | null {
    if (this.expression.kind === 'mask') return this.expression.mask.count
    return this.expression.kind === 'codes' || this.expression.kind === 'none' ? this.candidateCount : null
  }

  /** Whether the positions of the candidates can be listed: large columns are loaded without their order. */
  get areCandidatesListed(): boolean {
    if (this.#keptCandidates) return true
    return this.candidates?.every(({ column }) => column.order !== null) ?? false
  }

  /** Whether it takes little memory besides its columns. */
  get isSmall(): boolean {
    return this.#keptCandidates === null || this.#keptCandidates.length <= MAX_KEPT
  }

  /** Lists the candidates by the files of large columns. False if not all that is needed is in memory. */
  listCandidates(): boolean {
    const lists: Uint32Array[] = []
    for (const { column, from, to } of this.#candidateRanges()) {
      const list = column.sorted?.range(from, to) ?? null
      if (list === null) return false
      lists.push(list)
    }
    this.#keptCandidates = this.#isOneCode ? lists[0]! : distinctFrom(lists, 0)
    return true
  }

  /** Reads what `listCandidates` needs. */
  async loadCandidates(): Promise<void> {
    for (const { column, from, to } of this.#candidateRanges()) await column.sorted!.loadRange(from, to)
  }

  *#candidateRanges(): Generator<{ column: CompiledColumn; from: number; to: number }> {
    for (const { column, set } of this.candidates ?? [])
      for (let i = 0; i < set.length; i += 2)
        yield { column, from: column.starts[set[i]!]!, to: column.starts[set[i + 1]!]! }
  }

  /** Decides about all positions of a block: by its smallest and largest codes, and by the counts of masks. */
  blockState(block: number): number {
    return stateOf(this.expression, block)
  }

  /** Writes the positions from `from` to `to`, which are in one block, that match, and returns how many there are. */
  collect(from: number, to: number, positions: Uint32Array): number {
    const [first, ...others] = this.#conjuncts
    fill(first!, from, to, partMask, 0)
    let count = positionsOfMask(partMask, from, to - from, positions)
    // The other conditions are tested for the positions that are left.
    for (const part of others) if (count > 0) count = keep(part, from, to, positions, count)
    return count
  }

  /** The number of positions from `from` to `to`, which are in one block, that match. Faster than listing them. */
  countMatches(from: number, to: number): number {
    const [first, ...others] = this.#conjuncts
    fill(first!, from, to, partMask, 0)
    const last = others.at(-1)
    let count = -1
    for (const part of others) {
      if (part === last && part.kind === 'codes' && part.set.length === 2)
        return countRange(part.column.codes, from, to, part.set[0]!, part.set[1]!, partMask)
      fill(part, from, to, otherMask, 0)
      count = combineMasks(partMask, otherMask, to - from)
    }
    return count === -1 ? combineMasks(partMask, partMask, to - from) : count
  }

  /** The stored posting list that has all candidates, each once; null if there are several, or if it is not stored. */
  get candidateList(): CodesExpression | null {
    const [only, ...others] = this.candidates ?? []
    return only?.column.hasStoredOrder && others.length === 0 ? only : null
  }

  /** How many of the first `count` positions, which are of `candidateList`, match. Changes `positions`. */
  countListed(positions: Uint32Array, count: number): number {
    let rest = count
    for (const part of this.#conjuncts) {
      if (part === this.candidates![0] || rest === 0) continue
      rest =
        part.kind === 'codes' && part.set.length === 2
          ? keepRange(part.column.codes, part.set[0]!, part.set[1]!, positions, rest)
          : keepTested(tester(part), positions, rest)
    }
    return rest
  }

  /** The candidates from position `from` on, ascending. */
  collectCandidates(from: number): Uint32Array {
    if (this.candidateCount > MAX_KEPT && !this.#keptCandidates) return this.#collectCandidates(from)
    this.#keptCandidates ??= this.#collectCandidates(0)
    const kept = this.#keptCandidates
    return from === 0 ? kept : kept.subarray(firstAtLeast(kept, from))
  }

  #collectCandidates(from: number): Uint32Array {
    const lists: Uint32Array[] = []
    for (const range of this.#candidateRanges())
      lists.push(range.column.order!.subarray(range.from, range.to))
    return this.#isOneCode ? lists[0]!.subarray(firstAtLeast(lists[0]!, from)) : distinctFrom(lists, from)
  }

  /** Whether the candidates are one list, which is ascending. */
  get #isOneCode(): boolean {
    const [only, ...others] = this.candidates!
    return (
      only !== undefined && others.length === 0 && only.set.length === 2 && only.set[0] === only.set[1]! - 1
    )
  }
}

/** Keeps those of the first `count` positions that pass the test, and returns their number. */
function keepTested(test: (position: number) => boolean, positions: Uint32Array, count: number): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) if (test(positions[i]!)) positions[matchCount++] = positions[i]!
  return matchCount
}

function tester(expression: PositionExpression): (position: number) => boolean {
  switch (expression.kind) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'codes':
      return codeTester(expression)
    case 'mask': {
      const { bytes } = expression.mask
      return (position) => bytes[position] === 1
    }
    case 'and':
    case 'or': {
      const isAnd = expression.kind === 'and'
      const tests = expression.args.map(tester)
      const [first, second] = tests as [(position: number) => boolean, (position: number) => boolean]
      if (tests.length === 2) {
        return isAnd
          ? (position) => first(position) && second(position)
          : (position) => first(position) || second(position)
      }
      return (position) => {
        for (const test of tests) if (test(position) !== isAnd) return !isAnd
        return isAnd
      }
    }
  }
}

function codeTester({ column: { codes, codeCount }, set }: CodesExpression): (position: number) => boolean {
  if (set.length === 2) {
    const [from, to] = set as [number, number]
    return (position) => codes[position]! >= from && codes[position]! < to
  }
  const table = lookupTable(set, codeCount)
  return table ? (position) => table[codes[position]!] === 1 : (position) => hasCode(set, codes[position]!)
}

const MAX_TABLE_CODES = 1 << 16
const tables = new WeakMap<CodeSet, Uint8Array>()

/** Whether positions are tested by a table, which has a byte for each code of the column. */
export function hasTable({ column, set }: CodesExpression): boolean {
  return set.length > 2 && column.codeCount <= MAX_TABLE_CODES
}

/** A byte per code; null if there are too many codes. */
function lookupTable(set: CodeSet, codeCount: number): Uint8Array | null {
  if (codeCount > MAX_TABLE_CODES) return null
  let table = tables.get(set)
  if (table === undefined) {
    table = new Uint8Array(codeCount)
    for (let i = 0; i < set.length; i += 2) table.fill(1, set[i], set[i + 1])
    tables.set(set, table)
  }
  return table
}

function bySelectivity(args: readonly PositionExpression[], count: number): PositionExpression[] {
  const fractions = new Map(args.map((arg) => [arg, fractionOf(arg, Math.max(1, count))]))
  return args.toSorted((a, b) => fractions.get(a)! - fractions.get(b)!)
}

function fractionOf(expression: PositionExpression, count: number): number {
  switch (expression.kind) {
    case 'all':
      return 1
    case 'none':
      return 0
    case 'codes':
      return countPositions(expression.column, expression.set) / count
    case 'mask':
      return expression.mask.count / count
    case 'and':
      return expression.args.reduce((product, arg) => product * fractionOf(arg, count), 1)
    case 'or':
      return 1 - expression.args.reduce((product, arg) => product * (1 - fractionOf(arg, count)), 1)
  }
}

/** The smallest list of posting lists that includes all matches; null if all positions are candidates. */
function candidatesOf(expression: PositionExpression): readonly CodesExpression[] | null {
  switch (expression.kind) {
    case 'all':
    case 'mask':
      return null
    case 'none':
      return []
    case 'codes':
      return [expression]
    case 'and': {
      const lists = expression.args.map(candidatesOf).filter((list) => list !== null)
      return lists.length === 0 ? null : lists.reduce((a, b) => (total(b) < total(a) ? b : a))
    }
    case 'or': {
      const lists = expression.args.map(candidatesOf)
      return lists.includes(null) ? null : lists.flatMap((list) => list!)
    }
  }
}

function total(sets: readonly CodesExpression[]): number {
  return sets.reduce((sum, { column, set }) => sum + countPositions(column, set), 0)
}

function stateOf(expression: PositionExpression, block: number): number {
  switch (expression.kind) {
    case 'all':
      return ALL_POSITIONS
    case 'none':
      return NO_POSITIONS
    case 'mask':
      return expression.mask.blockState(block)
    case 'codes': {
      const { column, set } = expression
      const min = column.blockMin[block]!
      const max = column.blockMax[block]!
      if (max < set[0]! || min >= set[set.length - 1]!) return NO_POSITIONS
      return set.length === 2 && min >= set[0]! && max < set[1]! ? ALL_POSITIONS : SOME_POSITIONS
    }
    case 'and': {
      let state = ALL_POSITIONS
      for (const arg of expression.args) state = Math.min(state, stateOf(arg, block))
      return state
    }
    case 'or': {
      let state = NO_POSITIONS
      for (const arg of expression.args) state = Math.max(state, stateOf(arg, block))
      return state
    }
  }
}

/** One mask for each level of nesting, reused. */
const masks: Uint8Array[] = []

function fill(
  expression: PositionExpression,
  from: number,
  to: number,
  mask: Uint8Array,
  depth: number,
): void {
  switch (expression.kind) {
    case 'all':
    case 'none':
      mask.fill(expression.kind === 'all' ? 1 : 0, 0, to - from)
      return
    case 'codes':
      fillCodes(expression, from, to, mask)
      return
    case 'mask':
      mask.set(expression.mask.bytes.subarray(from, to))
      return
    case 'and':
    case 'or': {
      const [first, ...others] = expression.args
      const length = to - from
      fill(first!, from, to, mask, depth + 1)
      masks[depth] ??= new Uint8Array(BLOCK_ROWS)
      const other = masks[depth]!
      for (const arg of others) {
        const state = stateOf(arg, from >>> BLOCK_SHIFT)
        if (state === (expression.kind === 'and' ? ALL_POSITIONS : NO_POSITIONS)) continue
        fill(arg, from, to, other, depth + 1)
        if (expression.kind === 'and') for (let i = 0; i < length; i++) mask[i]! &= other[i]!
        else for (let i = 0; i < length; i++) mask[i]! |= other[i]!
      }
    }
  }
}

function fillCodes({ column, set }: CodesExpression, from: number, to: number, mask: Uint8Array): void {
  const { codes, codeCount } = column
  if (set.length === 2) {
    fillRange(codes, from, to, set[0]!, set[1]!, mask)
    return
  }
  const table = lookupTable(set, codeCount)
  if (table) fillTable(codes, from, to, table, mask)
  else
    for (let position = from; position < to; position++)
      mask[position - from] = hasCode(set, codes[position]!) ? 1 : 0
}

/** Keeps those of the first `count` positions, all of one block, that are in the set; returns how many there are. */
function keep(
  part: PositionExpression,
  from: number,
  to: number,
  positions: Uint32Array,
  count: number,
): number {
  if (stateOf(part, from >>> BLOCK_SHIFT) === ALL_POSITIONS) return count
  if (part.kind === 'mask') return keepMasked(part.mask.bytes, 0, positions, count)
  if (part.kind === 'codes' && part.set.length === 2) {
    return keepRange(part.column.codes, part.set[0]!, part.set[1]!, positions, count)
  }
  fill(part, from, to, partMask, 0)
  return keepMasked(partMask, from, positions, count)
}

/** Used by one filter at a time: a filter does not stop while it reads them. */
const partMask = new Uint8Array(BLOCK_ROWS)
const otherMask = new Uint8Array(BLOCK_ROWS)
