import type { Codes } from '@wayleave/geodata/features'

/*
 * The loops over the codes of a block. They have no branches, because whether a row matches cannot be predicted.
 * There is one for each width of codes: a loop that gets arrays of three widths takes three to five times as long.
 */

/** Sets mask[i] to 1 if the code of row `from` + i is in the range [low, high), and to 0 otherwise. */
export function fillRange(
  codes: Codes,
  from: number,
  to: number,
  low: number,
  high: number,
  mask: Uint8Array,
): void {
  if (codes instanceof Uint8Array) fillRange8(codes, from, to, low, high - 1, mask)
  else if (codes instanceof Uint16Array) fillRange16(codes, from, to, low, high - 1, mask)
  else fillRange32(codes, from, to, low, high - 1, mask)
}

// One of the differences is negative if the code is out of the range; the sign bit tells.

function fillRange8(
  codes: Uint8Array,
  from: number,
  to: number,
  low: number,
  last: number,
  mask: Uint8Array,
): void {
  for (let row = from; row < to; row++) {
    const code = codes[row]!
    mask[row - from] = ~((code - low) | (last - code)) >>> 31
  }
}

function fillRange16(
  codes: Uint16Array,
  from: number,
  to: number,
  low: number,
  last: number,
  mask: Uint8Array,
): void {
  for (let row = from; row < to; row++) {
    const code = codes[row]!
    mask[row - from] = ~((code - low) | (last - code)) >>> 31
  }
}

function fillRange32(
  codes: Uint32Array,
  from: number,
  to: number,
  low: number,
  last: number,
  mask: Uint8Array,
): void {
  for (let row = from; row < to; row++) {
    const code = codes[row]! | 0
    mask[row - from] = ~((code - low) | (last - code)) >>> 31
  }
}

/** Sets mask[i] to what the table has for the code of row `from` + i. */
export function fillTable(codes: Codes, from: number, to: number, table: Uint8Array, mask: Uint8Array): void {
  if (codes instanceof Uint8Array) fillTable8(codes, from, to, table, mask)
  else if (codes instanceof Uint16Array) fillTable16(codes, from, to, table, mask)
  else for (let row = from; row < to; row++) mask[row - from] = table[codes[row]!]!
}

function fillTable8(codes: Uint8Array, from: number, to: number, table: Uint8Array, mask: Uint8Array): void {
  for (let row = from; row < to; row++) mask[row - from] = table[codes[row]!]!
}

function fillTable16(
  codes: Uint16Array,
  from: number,
  to: number,
  table: Uint8Array,
  mask: Uint8Array,
): void {
  for (let row = from; row < to; row++) mask[row - from] = table[codes[row]!]!
}

/** Keeps those of the first `count` rows whose code is in the range [low, high), and returns how many there are. */
export function keepRange(codes: Codes, low: number, high: number, rows: Uint32Array, count: number): number {
  if (codes instanceof Uint8Array) return keepRange8(codes, low, high - 1, rows, count)
  if (codes instanceof Uint16Array) return keepRange16(codes, low, high - 1, rows, count)
  return keepRange32(codes, low, high - 1, rows, count)
}

function keepRange8(codes: Uint8Array, low: number, last: number, rows: Uint32Array, count: number): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const code = codes[row]!
    rows[matchCount] = row
    matchCount += ~((code - low) | (last - code)) >>> 31
  }
  return matchCount
}

function keepRange16(
  codes: Uint16Array,
  low: number,
  last: number,
  rows: Uint32Array,
  count: number,
): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const code = codes[row]!
    rows[matchCount] = row
    matchCount += ~((code - low) | (last - code)) >>> 31
  }
  return matchCount
}

function keepRange32(
  codes: Uint32Array,
  low: number,
  last: number,
  rows: Uint32Array,
  count: number,
): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const code = codes[row]! | 0
    rows[matchCount] = row
    matchCount += ~((code - low) | (last - code)) >>> 31
  }
  return matchCount
}

/** Keeps those of the first `count` rows for which mask[row - `from`] is 1, and returns how many there are. */
export function keepMasked(mask: Uint8Array, from: number, rows: Uint32Array, count: number): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    rows[matchCount] = row
    matchCount += mask[row - from]!
  }
  return matchCount
}

/** Writes the rows from `from` on whose mask is 1, and returns how many there are. */
export function rowsOfMask(mask: Uint8Array, from: number, length: number, rows: Uint32Array): number {
  let count = 0
  for (let i = 0; i < length; i++) {
    rows[count] = from + i
    count += mask[i]!
  }
  return count
}
