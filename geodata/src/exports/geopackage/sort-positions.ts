const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS

/**
 * The positions from `first` to before `end` in ascending order of their values, which are integers that are exact in
 * a double. A radix sort: sorting with a comparison took several times as long.
 */
export function sortPositions(values: Float64Array, first: number, end: number): Uint32Array {
  const count = end - first
  let lowestHigh = Infinity
  for (let i = first; i < end; i++) lowestHigh = Math.min(lowestHigh, Math.floor(values[i]! / 2 ** 32))
  const low = new Uint32Array(count)
  const high = new Uint32Array(count)
  let sorted = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    const value = values[first + i]!
    low[i] = value
    high[i] = Math.floor(value / 2 ** 32) - lowestHigh
    sorted[i] = i
  }
  for (const half of [low, high])
    for (let shift = 0; shift < 32; shift += DIGIT_BITS) sorted = sortByDigit(half, shift, sorted)
  for (let i = 0; i < count; i++) sorted[i]! += first
  return sorted
}

/** Keeps the order of positions that have the same digit. */
function sortByDigit(values: Uint32Array, shift: number, positions: Uint32Array<ArrayBuffer>) {
  const starts = new Uint32Array(DIGITS + 1)
  for (let i = 0; i < values.length; i++) starts[((values[i]! >>> shift) & (DIGITS - 1)) + 1]!++
  if (starts.includes(values.length)) return positions
  for (let digit = 0; digit < DIGITS; digit++) starts[digit + 1]! += starts[digit]!
  const sorted = new Uint32Array(positions.length)
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]!
    sorted[starts[(values[position]! >>> shift) & (DIGITS - 1)]!++] = position
  }
  return sorted
}
