import type { CompiledColumn } from '@wayleave/geodata/features'
import { bitsOfBlock, type CodesExpression, lookupTable, stateOf } from './block-bits.ts'
import { keepRange } from './code-loops.ts'
import { countPositions, hasCode } from './code-set.ts'
import type { PositionExpression } from './compile-condition.ts'
import type { PostingList } from './list-walk.ts'
import { distinctFrom, firstAtLeast } from './position-lists.ts'
import { countBits, positionsOfBits } from './word-loops.ts'

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
    if (this.#keptCandidates || this.ascendingList) return true
    return this.candidates?.every(({ column }) => column.order !== null) ?? false
  }

  /** The posting list of the one value whose positions are the candidates; null if there are several values, or no list. */
  get ascendingList(): PostingList | null {
    const [only, ...others] = this.candidates ?? []
    if (only === undefined || others.length > 0 || only.set.length > 2) return null
    const { column, set } = only
    const [code, next] = set as [number, number]
    if (next - code > 1 || column.sorted === null) return null
    return { order: column.sorted, from: column.starts[code]!, to: column.starts[next]! }
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
    this.#keptCandidates = distinctFrom(lists, 0)
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
    return positionsOfBits(bitsOfBlock(this.expression, from, to), from & ~31, positions)
  }

  /** The number of positions from `from` to `to`, which are in one block, that match. Faster than listing them. */
  countMatches(from: number, to: number): number {
    const words = bitsOfBlock(this.expression, from, to)
    return countBits(words, words.length * 32)
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
    return distinctFrom(lists, from)
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
      const { words } = expression.mask
      return (position) => ((words[position >>> 5]! >>> position) & 1) === 1
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
