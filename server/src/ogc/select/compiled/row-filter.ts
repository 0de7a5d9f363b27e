import { BLOCK_ROWS, BLOCK_SHIFT, type Codes } from '@wayleave/geodata/features'
import { type CodeSet, countRows, hasCode } from './code-set.ts'
import type { RowSet } from './compile-condition.ts'
import { ALL_ROWS, NO_ROWS, SOME_ROWS } from './row-mask.ts'

type CodesRowSet = RowSet & { kind: 'codes' }

/** Tests rows against a set of rows: single ones, and blocks of them. */
export class RowFilter {
  readonly rows: RowSet
  readonly matches: (row: number) => boolean
  /** How many rows are expected to match, as a fraction, if columns are independent. */
  readonly fraction: number
  /** Candidates that include all matches: the rows of these codes, which are `candidateCount` together. */
  readonly candidates: readonly CodesRowSet[] | null
  readonly candidateCount: number

  /** `count` is the number of all rows. */
  constructor(rows: RowSet, count: number) {
    this.rows = rows
    this.matches = tester(rows)
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

  /** Sets mask[i] to 1 if row `from` + i matches and to 0 otherwise, up to row `to`, in one block. */
  fillMask(from: number, to: number, mask: Uint8Array): void {
    fill(this.rows, from, to, mask, 0)
  }

  /** The candidates from row `from` on, ascending. */
  collectCandidates(from: number): Uint32Array {
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

const tables = new WeakMap<CodeSet, Uint8Array>()

/** A byte per code; null if there are too many codes. */
function lookupTable(set: CodeSet, codeCount: number): Uint8Array | null {
  if (codeCount > 1 << 16) return null
  let table = tables.get(set)
  if (table === undefined) {
    table = new Uint8Array(codeCount)
    for (let i = 0; i < set.length; i += 2) table.fill(1, set[i], set[i + 1])
    tables.set(set, table)
  }
  return table
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
  const codes = codesInBlock(column.codes, from, to)
  if (set.length === 2) {
    fillRange(codes, set[0]!, set[1]!, mask)
    return
  }
  const table = lookupTable(set, column.codeCount)
  if (table) for (let i = 0; i < codes.length; i++) mask[i] = table[codes[i]!]!
  else for (let i = 0; i < codes.length; i++) mask[i] = hasCode(set, codes[i]!) ? 1 : 0
}

/** Used by one filter at a time: a mask is filled without a pause. */
const wideCodes = new Int32Array(BLOCK_ROWS)

/**
 * The codes of some rows of a block, always as an Int32Array: a loop that gets arrays of three widths takes
 * three to five times as long as one that gets a single kind, and copying costs much less than that.
 */
function codesInBlock(codes: Codes, from: number, to: number): Int32Array {
  if (codes instanceof Uint32Array) {
    return new Int32Array(codes.buffer, codes.byteOffset + from * 4, to - from)
  }
  const wide = wideCodes.subarray(0, to - from)
  wide.set(codes.subarray(from, to))
  return wide
}

/** Without a branch, because whether a row matches cannot be predicted. */
function fillRange(codes: Int32Array, low: number, high: number, mask: Uint8Array): void {
  const { length } = codes
  const last = high - 1
  for (let i = 0; i < length; i++) {
    const code = codes[i]!
    // One of the differences is negative if the code is out of the range; the sign bit tells.
    mask[i] = ~((code - low) | (last - code)) >>> 31
  }
}
