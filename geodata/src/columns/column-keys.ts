/**
 * The values of one column as keys, in row order. A key is an unsigned 64-bit integer in two 32-bit words, in
 * such a form that keys have the order of their values. The arrays are used again for the next column.
 */
export class ColumnKeys {
  readonly high: Uint32Array
  readonly low: Uint32Array
  /** A 1 for every row without a value; null if the column has no nulls. The keys of such rows have no meaning. */
  isNull: Uint8Array | null = null
  /** The smallest and the largest integer, rounded if they are beyond 2^53; infinite if there are none. */
  min = Number.POSITIVE_INFINITY
  max = Number.NEGATIVE_INFINITY
  /** Whether every number so far is finite. */
  areFinite = true
  /** How many rows were added. */
  rows = 0
  readonly #flags: Uint8Array

  constructor(rows: number) {
    this.high = new Uint32Array(rows)
    this.low = new Uint32Array(rows)
    this.#flags = new Uint8Array(rows)
  }

  /** Begins the next column. */
  clear(nullable: boolean): void {
    this.isNull = nullable ? this.#flags : null
    this.min = Number.POSITIVE_INFINITY
    this.max = Number.NEGATIVE_INFINITY
    this.areFinite = true
    this.rows = 0
  }

  /** Adds signed 64-bit integers, each as its low and high word. `flags` has a 1 for every null. */
  addIntegers(words: Uint32Array, flags: Uint8Array | null): void {
    const { high, low } = this
    let { min, max, rows } = this
    for (let i = 0; i < words.length; i += 2, rows++) {
      const l = words[i]!
      const h = words[i + 1]!
      low[rows] = l
      high[rows] = h ^ 0x8000_0000
      if (flags !== null && flags[i >> 1] === 1) continue
      const value = (h | 0) * 2 ** 32 + l
      if (value < min) min = value
      if (value > max) max = value
    }
    this.#added(rows, flags)
    this.min = min
    this.max = max
  }

  /** The same for doubles. Negative zero becomes zero, because they are equal. */
  addDoubles(words: Uint32Array, flags: Uint8Array | null): void {
    const { high, low } = this
    let { rows, areFinite } = this
    for (let i = 0; i < words.length; i += 2, rows++) {
      const l = words[i]!
      const h = words[i + 1]!
      if ((h & 0x7ff0_0000) === 0x7ff0_0000) areFinite = false
      const isPositive = h >>> 31 === 0 || (h === 0x8000_0000 && l === 0)
      high[rows] = isPositive ? h | 0x8000_0000 : ~h
      low[rows] = isPositive ? l : ~l
    }
    this.#added(rows, flags)
    this.areFinite = areFinite
  }

  #added(rows: number, flags: Uint8Array | null): void {
    if (flags !== null) this.isNull!.set(flags, this.rows)
    this.rows = rows
  }
}

/** The doubles of keys, in `values`. */
export function doublesOfKeys(
  high: Uint32Array,
  low: Uint32Array,
  values = new Float64Array(high.length),
): Float64Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
  for (let i = 0; i < high.length; i++) {
    const h = high[i]!
    const isPositive = h >>> 31 === 1
    words[2 * i] = isPositive ? low[i]! : ~low[i]!
    words[2 * i + 1] = isPositive ? h & 0x7fff_ffff : ~h
  }
  return values
}

/** The integers of keys: doubles, in `values`, as long as all of them are below 2^53. The keys are ascending. */
export function integersOfKeys(
  high: Uint32Array,
  low: Uint32Array,
  values = new Float64Array(high.length),
): Float64Array | BigInt64Array {
  const count = high.length
  if (count === 0 || (isSafeKey(high[0]!) && isSafeKey(high[count - 1]!))) {
    for (let i = 0; i < count; i++) values[i] = signed(high[i]!) * 2 ** 32 + low[i]!
    return values
  }
  const integers = new BigInt64Array(count)
  for (let i = 0; i < count; i++) integers[i] = (BigInt(signed(high[i]!)) << 32n) + BigInt(low[i]!)
  return integers
}

function signed(word: number): number {
  return (word ^ 0x8000_0000) | 0
}

/** Whether every integer whose key begins with this word is below 2^53. */
function isSafeKey(word: number): boolean {
  const high = signed(word)
  return high >= -(2 ** 21) + 1 && high < 2 ** 21
}
