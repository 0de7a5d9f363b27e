import type { Codes } from '@wayleave/geodata/features'

/*
 * The loops over the codes of a block. They have no branches, because whether a position matches cannot be predicted.
 * There is one for each width of codes: a loop that gets arrays of three widths takes three to five times as long.
 * `| 0` tells V8 that no result exceeds 32 bits, so that it does not test for an overflow after every operation.
 */

/** Sets mask[i] to 1 if the code of position `from` + i is in the range [low, high), and to 0 otherwise. */
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
  for (let position = from | 0; position < to; position = (position + 1) | 0) {
    const code = codes[position]!
    mask[(position - from) | 0] = ~((code - low) | (last - code)) >>> 31
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
  for (let position = from | 0; position < to; position = (position + 1) | 0) {
    const code = codes[position]!
    mask[(position - from) | 0] = ~((code - low) | (last - code)) >>> 31
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
  for (let position = from | 0; position < to; position = (position + 1) | 0) {
    const code = codes[position]! | 0
    mask[(position - from) | 0] = ~((code - low) | (last - code)) >>> 31
  }
}

/** Sets mask[i] to what the table has for the code of position `from` + i. */
export function fillTable(codes: Codes, from: number, to: number, table: Uint8Array, mask: Uint8Array): void {
  if (codes instanceof Uint8Array) fillTable8(codes, from, to, table, mask)
  else if (codes instanceof Uint16Array) fillTable16(codes, from, to, table, mask)
  else for (let position = from; position < to; position++) mask[position - from] = table[codes[position]!]!
}

function fillTable8(codes: Uint8Array, from: number, to: number, table: Uint8Array, mask: Uint8Array): void {
  for (let position = from; position < to; position++) mask[position - from] = table[codes[position]!]!
}

function fillTable16(
  codes: Uint16Array,
  from: number,
  to: number,
  table: Uint8Array,
  mask: Uint8Array,
): void {
  for (let position = from; position < to; position++) mask[position - from] = table[codes[position]!]!
}

/** Keeps those of the first `count` positions whose code is in the range [low, high), and returns their number. */
export function keepRange(
  codes: Codes,
  low: number,
  high: number,
  positions: Uint32Array,
  count: number,
): number {
  if (codes instanceof Uint8Array) return keepRange8(codes, low, high - 1, positions, count)
  if (codes instanceof Uint16Array) return keepRange16(codes, low, high - 1, positions, count)
  return keepRange32(codes, low, high - 1, positions, count)
}

function keepRange8(
  codes: Uint8Array,
  low: number,
  last: number,
  positions: Uint32Array,
  count: number,
): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const position = positions[i]!
    const code = codes[position]!
    positions[matchCount] = position
    matchCount += ~((code - low) | (last - code)) >>> 31
  }
  return matchCount
}

function keepRange16(
  codes: Uint16Array,
  low: number,
  last: number,
  positions: Uint32Array,
  count: number,
): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const position = positions[i]!
    const code = codes[position]!
    positions[matchCount] = position
    matchCount += ~((code - low) | (last - code)) >>> 31
  }
  return matchCount
}

function keepRange32(
  codes: Uint32Array,
  low: number,
  last: number,
  positions: Uint32Array,
  count: number,
): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const position = positions[i]!
    const code = codes[position]! | 0
    positions[matchCount] = position
    matchCount += ~((code - low) | (last - code)) >>> 31
  }
  return matchCount
}

/** How many positions have mask[i] = 1 and a code, that of position `from` + i, in the range [low, high). */
export function countRange(
  codes: Codes,
  from: number,
  to: number,
  low: number,
  high: number,
  mask: Uint8Array,
): number {
  if (codes instanceof Uint8Array) return countRange8(codes, from, to, low, high - 1, mask)
  if (codes instanceof Uint16Array) return countRange16(codes, from, to, low, high - 1, mask)
  return countRange32(codes, from, to, low, high - 1, mask)
}

function countRange8(
  codes: Uint8Array,
  from: number,
  to: number,
  low: number,
  last: number,
  mask: Uint8Array,
): number {
  let count = 0
  for (let position = from | 0; position < to; position = (position + 1) | 0) {
    const code = codes[position]!
    count = (count + (mask[(position - from) | 0]! & (~((code - low) | (last - code)) >>> 31))) | 0
  }
  return count
}

function countRange16(
  codes: Uint16Array,
  from: number,
  to: number,
  low: number,
  last: number,
  mask: Uint8Array,
): number {
  let count = 0
  for (let position = from | 0; position < to; position = (position + 1) | 0) {
    const code = codes[position]!
    count = (count + (mask[(position - from) | 0]! & (~((code - low) | (last - code)) >>> 31))) | 0
  }
  return count
}

function countRange32(
  codes: Uint32Array,
  from: number,
  to: number,
  low: number,
  last: number,
  mask: Uint8Array,
): number {
  let count = 0
  for (let position = from | 0; position < to; position = (position + 1) | 0) {
    const code = codes[position]! | 0
    count = (count + (mask[(position - from) | 0]! & (~((code - low) | (last - code)) >>> 31))) | 0
  }
  return count
}

/** Sets mask[i] to 0 where the other mask has 0, and returns how many of the first `length` are 1. */
export function combineMasks(mask: Uint8Array, other: Uint8Array, length: number): number {
  let count = 0
  for (let i = 0; i < length; i++) {
    const both = mask[i]! & other[i]!
    mask[i] = both
    count += both
  }
  return count
}

/** Keeps those of the first `count` positions for which mask[position - `from`] is 1, and returns their number. */
export function keepMasked(mask: Uint8Array, from: number, positions: Uint32Array, count: number): number {
  let matchCount = 0
  for (let i = 0; i < count; i++) {
    const position = positions[i]!
    positions[matchCount] = position
    matchCount += mask[position - from]!
  }
  return matchCount
}

/** Writes the positions from `from` on whose mask is 1, and returns how many there are. */
export function positionsOfMask(
  mask: Uint8Array,
  from: number,
  length: number,
  positions: Uint32Array,
): number {
  let count = 0
  for (let i = 0; i < length; i++) {
    positions[count] = from + i
    count += mask[i]!
  }
  return count
}
