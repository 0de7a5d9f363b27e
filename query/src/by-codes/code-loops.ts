import type { Codes } from '@wayleave/geodata/features'

/*
 * The loops over the codes of positions. They have no branches, because whether a position matches cannot be predicted.
 * There is one for each width of codes: a loop that gets arrays of three widths takes three to five times as long.
 */

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
