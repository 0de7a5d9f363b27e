import { BLOCK_ROWS, BLOCK_SHIFT } from '@wayleave/geodata/features'
import { rangeBits, tableBits, testedBits } from './code-bits.ts'
import { type CodeSet, hasCode } from './code-set.ts'
import type { PositionExpression } from './compile-condition.ts'
import { ALL_POSITIONS, NO_POSITIONS, SOME_POSITIONS } from './position-mask.ts'
import { addBits, keepBits } from './word-loops.ts'

export type CodesExpression = PositionExpression & { kind: 'codes' }

/** A set of more ranges is looked up code by code. */
const MAX_RANGES = 4
const MAX_TABLE_CODES = 1 << 16
const tables = new WeakMap<CodeSet, Uint8Array>()
/** The words of each level of nesting, used again. */
const levels: Int32Array[] = []

/** What is known about all positions of a block, by their smallest and largest codes and by the counts of masks. */
export function stateOf(expression: PositionExpression, block: number): number {
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

/**
 * A bit for each position of a set between `from` and `to`, which are in one block. The first bit is that of `from`
 * rounded down to a multiple of 32; bits outside are 0. The words are valid until the next call. See
 * docs/decisions/compiled-columns.md.
 */
export function bitsOfBlock(expression: PositionExpression, from: number, to: number): Int32Array {
  const start = from & ~31
  const words = wordsOfLevel(0).subarray(0, (to - start + 31) >>> 5)
  fill(expression, start, to, words, 1)
  words[0]! &= -1 << from
  if (to % 32 !== 0) words[words.length - 1]! &= ~(-1 << to)
  return words
}

function fill(
  expression: PositionExpression,
  from: number,
  to: number,
  words: Int32Array,
  level: number,
): void {
  switch (expression.kind) {
    case 'all':
    case 'none':
      words.fill(expression.kind === 'all' ? -1 : 0)
      return
    case 'mask':
      words.set(expression.mask.words.subarray(from >>> 5, (from >>> 5) + words.length))
      return
    case 'codes':
      fillCodes(expression, from, to, words)
      return
    case 'and':
    case 'or': {
      const isAnd = expression.kind === 'and'
      const [first, ...others] = expression.args
      fill(first!, from, to, words, level)
      const other = wordsOfLevel(level).subarray(0, words.length)
      for (const arg of others) {
        const state = stateOf(arg, from >>> BLOCK_SHIFT)
        if (state === (isAnd ? ALL_POSITIONS : NO_POSITIONS)) continue
        fill(arg, from, to, other, level + 1)
        if (isAnd) keepBits(words, other)
        else addBits(words, other)
      }
    }
  }
}

function wordsOfLevel(level: number): Int32Array {
  levels[level] ??= new Int32Array(BLOCK_ROWS / 32)
  return levels[level]
}

function fillCodes({ column, set }: CodesExpression, from: number, to: number, words: Int32Array): void {
  const { codes, codeCount } = column
  const { length } = words
  if (set.length > 2 * MAX_RANGES) {
    const table = lookupTable(set, codeCount)
    const bits = table
      ? tableBits(codes, from, to, table)
      : testedBits(codes, from, to, (code) => hasCode(set, code))
    words.set(bits.subarray(0, length))
    return
  }
  for (let i = 0; i < set.length; i += 2) {
    const bits = rangeBits(codes, from, to, set[i]!, set[i + 1]!)
    if (i === 0) words.set(bits.subarray(0, length))
    else addBits(words, bits)
  }
}

/** Whether positions are tested by a table, which has a byte for each code of the column. */
export function hasTable({ column, set }: CodesExpression): boolean {
  return set.length > 2 && column.codeCount <= MAX_TABLE_CODES
}

/** A byte per code; null if there are too many codes. */
export function lookupTable(set: CodeSet, codeCount: number): Uint8Array | null {
  if (codeCount > MAX_TABLE_CODES) return null
  let table = tables.get(set)
  if (table === undefined) {
    table = new Uint8Array(codeCount)
    for (let i = 0; i < set.length; i += 2) table.fill(1, set[i], set[i + 1])
    tables.set(set, table)
  }
  return table
}
