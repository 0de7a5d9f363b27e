import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Codes, CompiledColumn } from '@wayleave/geodata/features'
import fc from 'fast-check'
import { cases } from '../../../scripts/test-run/needs.ts'
import { bitsOfBlock, stateOf } from './block-bits.ts'
import { loopRangeBits, rangeBits, tableBits, testedBits, vectorRangeBits } from './code-bits.ts'
import { type CodeSet, hasCode } from './code-set.ts'
import type { PositionExpression } from './compile-condition.ts'
import { PositionFilter } from './position-filter.ts'
import { ALL_POSITIONS, NO_POSITIONS, PositionMask } from './position-mask.ts'

const BLOCK = 4096
/** The max code of each width, and ones beside a change of sign. */
const MAX_CODES = { 1: 255, 2: 65_535, 4: 2_147_483_646 } as const
type Width = keyof typeof MAX_CODES

function codesOf(width: Width, codes: readonly number[]): Codes {
  if (width === 1) return Uint8Array.from(codes)
  return width === 2 ? Uint16Array.from(codes) : Uint32Array.from(codes)
}

function bitOf(words: Int32Array, i: number): boolean {
  return ((words[i >>> 5]! >>> i) & 1) === 1
}

const compared = fc.constantFrom<Width>(1, 2, 4).chain((width) => {
  const max = MAX_CODES[width]
  const code = fc.oneof(
    fc.nat(max),
    fc.constantFrom(0, 1, 127, 128, max >>> 1, (max >>> 1) + 1, max - 1, max),
  )
  return fc.record({
    width: fc.constant(width),
    codes: fc.array(code, { minLength: 1, maxLength: 200 }),
    repeats: fc.constantFrom(1, 2, 20),
    from: fc.nat(40),
    range: fc.tuple(code, code),
  })
})

test('all ways to compare codes with a range give the bits of a comparison one by one', () => {
  const vectors = vectorRangeBits()
  assert.ok(vectors, 'the processor of this machine has vectors')
  fc.assert(
    fc.property(compared, ({ width, codes, repeats, from: wanted, range }) => {
      const all = codesOf(
        width,
        Array.from({ length: Math.min(repeats, BLOCK / codes.length) }, () => codes).flat(),
      )
      const from = Math.min(wanted, all.length - 1)
      const [low, last] = range.toSorted((a, b) => a - b) as [number, number]
      const isIn = (code: number) => code >= low && code <= last
      const ways = [vectors, loopRangeBits, rangeBits].map((way) =>
        way(all, from, all.length, low, last + 1).slice(),
      )
      ways.push(testedBits(all, from, all.length, isIn).slice())
      if (width === 1) {
        const table = Uint8Array.from({ length: 256 }, (_, code) => Number(isIn(code)))
        ways.push(tableBits(all, from, all.length, table).slice())
      }
      for (const words of ways)
        for (let i = from; i < all.length; i++) assert.equal(bitOf(words, i - from), isIn(all[i]!))
    }),
    { numRuns: cases(500) },
  )
})

/** A column of these codes, without a dictionary. */
function columnOf(codes: Codes, codeCount: number): CompiledColumn {
  const starts = new Uint32Array(codeCount + 1)
  for (const code of codes) starts[code + 1]!++
  for (let code = 0; code < codeCount; code++) starts[code + 1]! += starts[code]!
  const blocks = Array.from({ length: Math.ceil(codes.length / BLOCK) }, (_, i) =>
    codes.subarray(i * BLOCK, (i + 1) * BLOCK),
  )
  return new CompiledColumn('c', 'number', {
    values: new Float64Array(codeCount - 1),
    codes,
    starts,
    order: null,
    blockMin: Uint32Array.from(blocks, (part) => Math.min(...part)),
    blockMax: Uint32Array.from(blocks, (part) => Math.max(...part)),
    blockCounts: null,
    edges: new Uint32Array(0),
    below: new Int32Array(0),
  })
}

/** Codes that are mixed in some blocks and the same in others. */
function mixedCodes(rows: number, codeCount: number, seed: number): number[] {
  return Array.from({ length: rows }, (_, row) => {
    const block = Math.floor(row / BLOCK)
    return (block + seed) % 3 === 0 ? (block + seed) % codeCount : (row * 7919 + seed) % codeCount
  })
}

function maskOf(rows: number, seed: number): PositionMask {
  const mask = new PositionMask(rows)
  let begin = seed % 50
  for (let i = seed; begin < rows; i++) {
    const end = Math.min(rows, begin + 1 + ((i * i * 31) % 900))
    mask.addRun(begin, end)
    begin = end + 1 + ((i * 17) % 700)
  }
  return mask
}

function expressionOf(rows: number): fc.Arbitrary<PositionExpression> {
  const codes = fc
    .record({
      width: fc.constantFrom<Width>(1, 2, 4),
      codeCount: fc.constantFrom(2, 7, 200),
      seed: fc.nat(20),
      bounds: fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 14 }),
    })
    .map(({ width, codeCount, seed, bounds }): PositionExpression => {
      const inside = [...new Set(bounds.map((bound) => bound % (codeCount + 1)))].toSorted((a, b) => a - b)
      const set: CodeSet = inside.slice(0, inside.length & ~1)
      if (set.length === 0) return { kind: 'all' }
      return {
        kind: 'codes',
        column: columnOf(codesOf(width, mixedCodes(rows, codeCount, seed)), codeCount),
        set,
      }
    })
  const mask = fc.nat(60).map((seed): PositionExpression => ({ kind: 'mask', mask: maskOf(rows, seed) }))
  const leaf = fc.oneof(
    { weight: 4, arbitrary: codes },
    mask,
    fc.constant<PositionExpression>({ kind: 'none' }),
  )
  const { expression } = fc.letrec<{ expression: PositionExpression; both: PositionExpression }>((tie) => ({
    expression: fc.oneof({ maxDepth: 3, withCrossShrink: true }, leaf, tie('both')),
    both: fc.record({
      kind: fc.constantFrom<'and' | 'or'>('and', 'or'),
      args: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
    }),
  }))
  return expression
}

/** Whether a position is in the set, by the codes of the position alone. */
function isIn(expression: PositionExpression, position: number): boolean {
  switch (expression.kind) {
    case 'all':
      return true
    case 'none':
      return false
    case 'codes':
      return hasCode(expression.set, expression.column.codes[position]!)
    case 'mask':
      return bitOf(expression.mask.words, position)
    case 'and':
      return expression.args.every((arg) => isIn(arg, position))
    case 'or':
      return expression.args.some((arg) => isIn(arg, position))
  }
}

test('the matches of a block, and their number, are those of each position, also at the borders of blocks', () => {
  const sizes = fc.constantFrom(1, 31, 32, 33, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 33)
  const question = sizes.chain((rows) =>
    fc.record({
      rows: fc.constant(rows),
      expression: expressionOf(rows),
      cuts: fc.array(fc.nat(rows), { maxLength: 5 }),
    }),
  )
  const positions = new Uint32Array(BLOCK)
  fc.assert(
    fc.property(question, ({ rows, expression, cuts }) => {
      const filter = new PositionFilter(expression, rows)
      const matching = Array.from({ length: rows }, (_, position) => position).filter((p) =>
        isIn(expression, p),
      )
      assert.deepEqual(
        Array.from({ length: rows }, (_, position) => position).filter((p) => filter.matches(p)),
        matching,
      )
      const edges = [...new Set([0, ...cuts, BLOCK, 2 * BLOCK, rows])].filter((edge) => edge <= rows)
      edges.sort((a, b) => a - b)
      const collected: number[] = []
      for (const [i, to] of edges.entries()) {
        const from = edges[i - 1]
        if (from === undefined) continue
        const own = [...positions.subarray(0, filter.collect(from, to, positions))]
        assert.equal(filter.countMatches(from, to), own.length)
        const state = stateOf(expression, Math.floor(from / BLOCK))
        if (state === ALL_POSITIONS) assert.equal(own.length, to - from)
        if (state === NO_POSITIONS) assert.equal(own.length, 0)
        const words = bitsOfBlock(expression, from, to)
        assert.equal(words.length, Math.ceil((to - (from & ~31)) / 32))
        collected.push(...own)
      }
      assert.deepEqual(collected, matching)
    }),
    { numRuns: cases(150) },
  )
})
