import { type CompiledColumn, wordsOf } from '@wayleave/geodata/features'
import { type CodeSet, complement, countPositions } from '../by-codes/code-set.ts'
import type { PositionExpression } from '../by-codes/compile-condition.ts'
import {
  addBits,
  clearPositions,
  countBits,
  keepBits,
  removeBits,
  setPositions,
} from '../by-codes/word-loops.ts'
import { ENDED, PAUSED, type SlicedWork } from '../features/sliced-work.ts'

/** Measured times, in ns: for each word to copy it, to combine two, to count its bits; and to set or clear one bit. */
const COST = { copy: 0.2, combine: 1.2, count: 2.2, bit: 4 }
/** A set of more ranges is made of its posting lists instead of the bitmaps of the column. */
const MAX_RANGES = 4
/** Bits that are set without a look at the clock: about a millisecond. */
const STEP = 1 << 18

/** A bit per position. `isOwn` is whether it may be changed: it is not part of a column or a mask. */
interface Bits {
  words: Int32Array
  isOwn: boolean
}

/** Returns the bits of a set of positions. It yields where it may pause. */
type Making = Generator<undefined, Bits>

/**
 * Counts the positions of an expression by bitmaps, 32 positions at a time, whatever share of the positions matches:
 * 0.1 to 0.3 ms for two conditions on a million features.
 */
export class BitCount implements SlicedWork {
  readonly #size: number
  readonly #making: Making
  #count = 0

  /** `size` is the number of all positions. */
  constructor(expression: PositionExpression, size: number) {
    this.#size = size
    this.#making = bitsOf(expression, size)
  }

  /** The result, after `advance` has returned ENDED. */
  get count(): number {
    return this.#count
  }

  advance(until: number): number {
    for (;;) {
      const { done, value } = this.#making.next()
      if (done) {
        this.#count = countBits(value.words, this.#size)
        release(value)
        return ENDED
      }
      if (performance.now() > until) return PAUSED
    }
  }
}

/** How long counting takes, in ns, estimated by the work alone: the same expression always has the same cost. */
export function bitCountCost(expression: PositionExpression, size: number): number {
  return costOf(expression, wordsOf(size)) + wordsOf(size) * COST.count
}

function costOf(expression: PositionExpression, words: number): number {
  switch (expression.kind) {
    case 'all':
    case 'none':
    case 'mask':
      return 0
    case 'codes':
      // Large columns are loaded without what this needs.
      return expression.column.order ? costOfCodes(expression.column, expression.set, words) : Infinity
    case 'and':
    case 'or': {
      const combining = (expression.args.length - 1) * words * COST.combine + words * COST.copy
      return expression.args.reduce((sum, arg) => sum + costOf(arg, words), combining)
    }
  }
}

function costOfCodes(column: CompiledColumn, set: CodeSet, words: number): number {
  if (!isOfRanges(set)) return fewerPositions(column, set) * COST.bit + words * COST.copy
  let cost = (set.length / 2 - 1) * words * COST.combine
  for (let i = 0; i < set.length; i += 2) {
    cost += costBelow(column, set[i + 1]!, words)
    if (column.starts[set[i]!]! > 0) cost += costBelow(column, set[i]!, words) + words * COST.combine
  }
  return cost
}

function costBelow(column: CompiledColumn, code: number, words: number): number {
  const start = startOfEdge(column, nearestEdge(column, code))
  return Math.abs(column.starts[code]! - start) * COST.bit + words * COST.copy
}

function isOfRanges(set: CodeSet): boolean {
  return set.length <= 2 * MAX_RANGES
}

/** The positions that are in the set, or those that are not, whichever are fewer. */
function fewerPositions(column: CompiledColumn, set: CodeSet): number {
  const count = countPositions(column, set)
  return Math.min(count, column.codes.length - count)
}

function* bitsOf(expression: PositionExpression, size: number): Making {
  switch (expression.kind) {
    case 'all':
      return filled(wordsOf(size), -1)
    case 'none':
      return filled(wordsOf(size), 0)
    case 'mask':
      return { words: expression.mask.words, isOwn: false }
    case 'codes':
      return yield* isOfRanges(expression.set)
        ? bitsOfRanges(expression.column, expression.set)
        : bitsOfLists(expression.column, expression.set)
    case 'and':
    case 'or': {
      const combine = expression.kind === 'and' ? keepBits : addBits
      let all: Bits | null = null
      for (const arg of expression.args) {
        const bits = yield* bitsOf(arg, size)
        all = all === null ? bits : combined(all, bits, combine)
        yield
      }
      return all!
    }
  }
}

/** The positions of codes in a few ranges: those below the end of a range without those below its begin. */
function* bitsOfRanges(column: CompiledColumn, set: CodeSet): Making {
  let all: Bits | null = null
  for (let i = 0; i < set.length; i += 2) {
    let bits = yield* bitsBelow(column, set[i + 1]!)
    yield
    if (column.starts[set[i]!]! > 0) {
      bits = owned(bits)
      const before = yield* bitsBelow(column, set[i]!)
      removeBits(bits.words, before.words)
      release(before)
      yield
    }
    all = all === null ? bits : combined(all, bits, addBits)
  }
  return all!
}

/** The positions of codes in many ranges, from the posting lists of the set or of its complement. */
function* bitsOfLists(column: CompiledColumn, set: CodeSet): Making {
  const count = countPositions(column, set)
  const isRare = count <= column.codes.length / 2
  const bits = filled(wordsOf(column.codes.length), isRare ? 0 : -1)
  const listed = isRare ? set : complement(set, column.codeCount)
  for (let i = 0; i < listed.length; i += 2) {
    yield* changeListed(bits, column, column.starts[listed[i]!]!, column.starts[listed[i + 1]!]!, isRare)
  }
  return bits
}

/** The positions whose codes are below `code`, from those of the nearest edge. */
function* bitsBelow(column: CompiledColumn, code: number): Making {
  const edge = nearestEdge(column, code)
  const from = startOfEdge(column, edge)
  const to = column.starts[code]!
  const words = wordsOf(column.codes.length)
  const bits =
    edge === -1 || edge === column.edges.length
      ? filled(words, edge === -1 ? 0 : -1)
      : { words: column.rowsBelow(edge), isOwn: false }
  if (from === to) return bits
  const changed = owned(bits)
  yield* changeListed(changed, column, Math.min(from, to), Math.max(from, to), from < to)
  return changed
}

/** Sets or clears the bits of a part of the posting lists. */
function* changeListed(
  { words }: Bits,
  { order }: CompiledColumn,
  from: number,
  to: number,
  isSet: boolean,
): Generator<undefined, void> {
  for (let at = from; at < to; at += STEP) {
    const end = Math.min(to, at + STEP)
    if (isSet) setPositions(words, order!, at, end)
    else clearPositions(words, order!, at, end)
    if (end < to) yield
  }
}

/** The edge with the fewest positions between it and the code; -1 is below all codes, `edges.length` above all. */
function nearestEdge(column: CompiledColumn, code: number): number {
  const { edges, starts } = column
  let above = 0
  while (above < edges.length && edges[above]! <= code) above++
  const start = starts[code]!
  return start - startOfEdge(column, above - 1) <= startOfEdge(column, above) - start ? above - 1 : above
}

function startOfEdge({ edges, starts, codes }: CompiledColumn, edge: number): number {
  if (edge === -1) return 0
  return edge === edges.length ? codes.length : starts[edges[edge]!]!
}

/** Combines two sets in the memory of one of them, and releases the other. */
function combined(a: Bits, b: Bits, combine: typeof keepBits): Bits {
  const [target, other] = !a.isOwn && b.isOwn ? [b, a] : [owned(a), b]
  combine(target.words, other.words)
  release(other)
  return target
}

function owned(bits: Bits): Bits {
  if (bits.isOwn) return bits
  const words = takeWords(bits.words.length)
  words.set(bits.words)
  return { words, isOwn: true }
}

function filled(length: number, word: number): Bits {
  return { words: takeWords(length).fill(word), isOwn: true }
}

/** Released memory, to be used by the next count: collecting it as garbage would take longer than counting. */
const spare: Int32Array[] = []
const MAX_SPARE = 4

function takeWords(length: number): Int32Array {
  const at = spare.findIndex((words) => words.length === length)
  return at === -1 ? new Int32Array(length) : spare.splice(at, 1)[0]!
}

function release({ words, isOwn }: Bits): void {
  if (!isOwn) return
  if (spare.length === MAX_SPARE) spare.shift()
  spare.push(words)
}
