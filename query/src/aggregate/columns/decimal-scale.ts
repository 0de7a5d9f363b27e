import { sharedDoubles } from '@wayleave/geodata/base'

/** More decimals than measured and written numbers have. */
const MAX_DECIMALS = 9

/**
 * Finds out whether all numbers of a dictionary are decimals with a few digits after the point, such as prices: then
 * their sums are exact as sums of integers. It looks at parts of the dictionary in two passes: `find` for all values,
 * then `fill` for all values.
 */
export class DecimalScale {
  readonly #values: Float64Array
  #decimals: number | null = 0
  #scaled: Float64Array | null = null

  constructor(values: Float64Array) {
    this.#values = values
  }

  /** The max number of decimals; null if some number has more. */
  get decimals(): number | null {
    return this.#decimals
  }

  /** The numbers as integers, times ten to the power of `decimals`. */
  get scaled(): Float64Array | null {
    return this.#decimals === null ? null : this.#scaled
  }

  find(from: number, to: number): void {
    if (this.#decimals === null) return
    const values = this.#values
    let decimals = this.#decimals
    // Not computed for each value: a power takes longer than the test.
    let scale = 10 ** decimals
    for (let i = from; i < to; i++) {
      while (!isScaled(values[i]!, scale)) {
        if (++decimals > MAX_DECIMALS) {
          this.#decimals = null
          return
        }
        scale = 10 ** decimals
      }
    }
    this.#decimals = decimals
  }

  fill(from: number, to: number): void {
    if (this.#decimals === null) return
    const scale = 10 ** this.#decimals
    this.#scaled ??= sharedDoubles(this.#values.length)
    const scaled = this.#scaled
    for (let i = from; i < to; i++) {
      const value = this.#values[i]!
      // A large number that has few decimals may have too many digits with those of others.
      if (!isScaled(value, scale)) {
        this.#decimals = null
        return
      }
      scaled[i] = Math.round(value * scale)
    }
  }
}

function isScaled(value: number, scale: number): boolean {
  const integer = Math.round(value * scale)
  return Math.abs(integer) <= Number.MAX_SAFE_INTEGER && integer / scale === value
}
