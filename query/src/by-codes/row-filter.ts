import { BLOCK_ROWS, BLOCK_SHIFT } from '@wayleave/geodata/features'
import { fillRange, fillTable, keepMasked, keepRange, rowsOfMask } from './code-loops.ts'
import { type CodeSet, countRows, hasCode } from './code-set.ts'
import type { RowSet } from './compile-condition.ts'
import { ALL_ROWS, NO_ROWS, SOME_ROWS } from './row-mask.ts'

type CodesRowSet = RowSet & { kind: 'codes' }

/** Max candidates that are kept with the filter. */
const MAX_KEPT = 128

/** Tests rows against a set of rows: single ones, and blocks of them. */
export class RowFilter {
  readonly rows: RowSet
  readonly matches: (row: number) => boolean
  /** How many rows are expected to match, as a fraction, if columns are independent. */
  readonly fraction: number
  /** Candidates that include all matches: the rows of these codes, which are `candidateCount` together. */
  readonly candidates: readonly CodesRowSet[] | null
  readonly candidateCount: number
  /** The sets that a row must all be in; the one with the fewest rows is the first. */
  readonly #conjuncts: readonly RowSet[]
  #keptCandidates: Uint32Array | null = null

  /** `count` is the number of all rows. */
  constructor(rows: RowSet, count: number) {
    this.rows = rows
    this.matches = tester(rows)
    this.#conjuncts = rows.kind === 'and' ? bySelectivity(rows.args, count) : [rows]
    this.fraction = fractionOf(rows, Math.max(1, count))
    this.candidates = candidatesOf(rows)
    this.candidateCount = this.candidates ? total(this.candidates) : count
  }

  /** The number of matches, if it follows from the posting lists or a mask; null otherwise. */
  get exactCount(): number | null {
    if (this.rows.kind === 'mask') return this.rows.mask.count
    return this.rows.kind === 'codes' || this.rows.kind === 'none' ? this.candidateCount : null
  }

  /** Decides about all rows of a block: by its smallest and largest codes, and by the counts of masks. */
  blockState(block: number): number {
    return stateOf(this.rows, block)
  }

  /** Writes the rows from `from` to `to`, which are in one block, that match, and returns how many there are. */
  collectRows(from: number, to: number, rows: Uint32Array): number {
    const [first, ...others] = this.#conjuncts
    fill(first!, from, to, partMask, 0)
    let count = rowsOfMask(partMask, from, to - from, rows)
    // The other conditions are tested for the rows that are left.
    for (const part of others) if (count > 0) count = keep(part, from, to, rows, count)
    return count
  }

  /** The candidates from row `from` on, ascending. */
  collectCandidates(from: number): Uint32Array {
    if (this.candidateCount > MAX_KEPT) return this.#collectCandidates(from)
    this.#keptCandidates ??= this.#collectCandidates(0)
    const kept = this.#keptCandidates
    return from === 0 ? kept : kept.subarray(firstAtLeast(kept, from))
  }

  #collectCandidates(from: number): Uint32Array {
    const lists: Uint32Array[] = []
    for (const { column, set } of this.candidates!) {
      for (let i = 0; i < set.length; i += 2) {
        lists.push(column.order.subarray(column.starts[set[i]!]!, column.starts[set[i + 1]!]!))
      }
    }
    const isOneCode =
      lists.length === 1 && this.candidates!.every(({ set }) => set.length === 2 && set[0] === set[1]! - 1)
    if (isOneCode) return lists[0]!.subarray(firstAtLeast(lists[0]!, from))
    const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0))
    let count = 0
    for (const list of lists) {
      for (let i = 0; i < list.length; i++) if (list[i]! >= from) all[count++] = list[i]!
    }
    const sorted = all.subarray(0, count).sort()
    let distinct = 0
    for (let i = 0; i < count; i++)
      if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i]!
    return sorted.subarray(0, distinct)
  }
}

function firstAtLeast(ascending: Uint32Array, value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

function tester(rows: RowSet): (row: number) => boolean {
  switch (rows.kind) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'codes':
      return codeTester(rows)
    case 'mask': {
      const { bytes } = rows.mask
      return (row) => bytes[row] === 1
    }
    case 'and':
    case 'or': {
      const isAnd = rows.kind === 'and'
      const tests = rows.args.map(tester)
      const [first, second] = tests as [(row: number) => boolean, (row: number) => boolean]
      if (tests.length === 2) {
        return isAnd ? (row) => first(row) && second(row) : (row) => first(row) || second(row)
      }
      return (row) => {
        for (const test of tests) if (test(row) !== isAnd) return !isAnd
        return isAnd
      }
    }
  }
}

function codeTester({ column: { codes, codeCount }, set }: CodesRowSet): (row: number) => boolean {
  if (set.length === 2) {
    const [from, to] = set as [number, number]
    return (row) => codes[row]! >= from && codes[row]! < to
  }
  const table = lookupTable(set, codeCount)
  return table ? (row) => table[codes[row]!] === 1 : (row) => hasCode(set, codes[row]!)
}

const MAX_TABLE_CODES = 1 << 16
const tables = new WeakMap<CodeSet, Uint8Array>()

/** Whether rows are tested by a table, which has a byte for each code of the column. */
export function hasTable({ column, set }: CodesRowSet): boolean {
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

function bySelectivity(args: readonly RowSet[], count: number): RowSet[] {
  const fractions = new Map(args.map((arg) => [arg, fractionOf(arg, Math.max(1, count))]))
  return args.toSorted((a, b) => fractions.get(a)! - fractions.get(b)!)
}

function fractionOf(rows: RowSet, count: number): number {
  switch (rows.kind) {
    case 'all':
      return 1
    case 'none':
      return 0
    case 'codes':
      return countRows(rows.column, rows.set) / count
    case 'mask':
      return rows.mask.count / count
    case 'and':
      return rows.args.reduce((product, arg) => product * fractionOf(arg, count), 1)
    case 'or':
      return 1 - rows.args.reduce((product, arg) => product * (1 - fractionOf(arg, count)), 1)
  }
}

/** The smallest list of posting lists that includes all matches; null if all rows are candidates. */
function candidatesOf(rows: RowSet): readonly CodesRowSet[] | null {
  switch (rows.kind) {
    case 'all':
    case 'mask':
      return null
    case 'none':
      return []
    case 'codes':
      return [rows]
    case 'and': {
      const lists = rows.args.map(candidatesOf).filter((list) => list !== null)
      return lists.length === 0 ? null : lists.reduce((a, b) => (total(b) < total(a) ? b : a))
    }
    case 'or': {
      const lists = rows.args.map(candidatesOf)
      return lists.includes(null) ? null : lists.flatMap((list) => list!)
    }
  }
}

function total(sets: readonly CodesRowSet[]): number {
  return sets.reduce((sum, { column, set }) => sum + countRows(column, set), 0)
}

function stateOf(rows: RowSet, block: number): number {
  switch (rows.kind) {
    case 'all':
      return ALL_ROWS
    case 'none':
      return NO_ROWS
    case 'mask':
      return rows.mask.blockState(block)
    case 'codes': {
      const { column, set } = rows
      const min = column.blockMin[block]!
      const max = column.blockMax[block]!
      if (max < set[0]! || min >= set[set.length - 1]!) return NO_ROWS
      return set.length === 2 && min >= set[0]! && max < set[1]! ? ALL_ROWS : SOME_ROWS
    }
    case 'and': {
      let state = ALL_ROWS
      for (const arg of rows.args) state = Math.min(state, stateOf(arg, block))
      return state
    }
    case 'or': {
      let state = NO_ROWS
      for (const arg of rows.args) state = Math.max(state, stateOf(arg, block))
      return state
    }
  }
}

/** One mask for each level of nesting, reused. */
const masks: Uint8Array[] = []

function fill(rows: RowSet, from: number, to: number, mask: Uint8Array, depth: number): void {
  switch (rows.kind) {
    case 'all':
    case 'none':
      mask.fill(rows.kind === 'all' ? 1 : 0, 0, to - from)
      return
    case 'codes':
      fillCodes(rows, from, to, mask)
      return
    case 'mask':
      mask.set(rows.mask.bytes.subarray(from, to))
      return
    case 'and':
    case 'or': {
      const [first, ...others] = rows.args
      const length = to - from
      fill(first!, from, to, mask, depth + 1)
      masks[depth] ??= new Uint8Array(BLOCK_ROWS)
      const other = masks[depth]!
      for (const arg of others) {
        const state = stateOf(arg, from >>> BLOCK_SHIFT)
        if (state === (rows.kind === 'and' ? ALL_ROWS : NO_ROWS)) continue
        fill(arg, from, to, other, depth + 1)
        if (rows.kind === 'and') for (let i = 0; i < length; i++) mask[i]! &= other[i]!
        else for (let i = 0; i < length; i++) mask[i]! |= other[i]!
      }
    }
  }
}

function fillCodes({ column, set }: CodesRowSet, from: number, to: number, mask: Uint8Array): void {
  const { codes, codeCount } = column
  if (set.length === 2) {
    fillRange(codes, from, to, set[0]!, set[1]!, mask)
    return
  }
  const table = lookupTable(set, codeCount)
  if (table) fillTable(codes, from, to, table, mask)
  else for (let row = from; row < to; row++) mask[row - from] = hasCode(set, codes[row]!) ? 1 : 0
}

/** Keeps those of the first `count` rows, all of one block, that are in the set; returns how many there are. */
function keep(part: RowSet, from: number, to: number, rows: Uint32Array, count: number): number {
  if (stateOf(part, from >>> BLOCK_SHIFT) === ALL_ROWS) return count
  if (part.kind === 'mask') return keepMasked(part.mask.bytes, 0, rows, count)
  if (part.kind === 'codes' && part.set.length === 2) {
    return keepRange(part.column.codes, part.set[0]!, part.set[1]!, rows, count)
  }
  fill(part, from, to, partMask, 0)
  return keepMasked(partMask, from, rows, count)
}

/** Used by one filter at a time: a filter does not stop while it reads it. */
const partMask = new Uint8Array(BLOCK_ROWS)
