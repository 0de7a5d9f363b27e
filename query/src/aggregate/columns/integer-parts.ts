import { sharedDoubles } from '@wayleave/geodata/base'
import type { CompiledColumn } from '@wayleave/geodata/features'

/** Parts of large integers have so many bits that the sum of 2^28 of them is exact in a double. */
const PART_BITS = 24
const PART = 2 ** PART_BITS

/** Whether the sum of all integers of a column may be beyond 2^53. */
export function needsParts({ values, codes }: CompiledColumn): boolean {
  if (!(values instanceof Float64Array)) return values.length > 0
  const largest = values.length === 0 ? 0 : Math.max(Math.abs(values[0]!), Math.abs(values.at(-1)!))
  return largest * codes.length > Number.MAX_SAFE_INTEGER
}

/**
 * The integers of a column by code, lowest part first, 0 for null. The lower parts are not negative; the highest one
 * has the sign. `fill` computes the parts of some values.
 */
export function integerParts({ values }: CompiledColumn): {
  tables: Float64Array[]
  fill: (from: number, to: number) => void
} {
  const bits = values.length === 0 ? 1 : Math.max(bitsOf(values[0]!), bitsOf(values.at(-1)!))
  const count = Math.ceil((bits + 1) / PART_BITS)
  const tables = Array.from({ length: count }, () => sharedDoubles(values.length + 1))
  return {
    tables,
    fill: (from, to) => {
      if (values instanceof Float64Array) splitDoubles(values, from, to, tables)
      else if (values instanceof BigInt64Array) splitLongs(values, from, to, tables)
      else splitTexts(values, from, to, tables)
    },
  }
}

/** The sum of integers from the sums of their parts. */
export function joinParts(sums: readonly Float64Array[], group: number): number | bigint {
  const sum = sums.reduceRight((high, part) => (high << BigInt(PART_BITS)) + BigInt(part[group]!), 0n)
  return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum
}

function splitDoubles(values: Float64Array, from: number, to: number, tables: Float64Array[]): void {
  const last = tables.length - 1
  for (let i = from; i < to; i++) {
    let rest = values[i]!
    for (let part = 0; part < last; part++) {
      const high = Math.floor(rest / PART)
      tables[part]![i + 1] = rest - high * PART
      rest = high
    }
    tables[last]![i + 1] = rest
  }
}

/**
 * By the halves of the integers in memory: a `bigint` for each would take ten times as long. A column has them because
 * one is beyond 2^53, so there are always three parts.
 */
function splitLongs(values: BigInt64Array, from: number, to: number, tables: Float64Array[]): void {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  const [low, middle, high] = tables as [Float64Array, Float64Array, Float64Array]
  for (let i = from; i < to; i++) {
    const lower = halves[i * 2]!
    const upper = halves[i * 2 + 1]!
    low[i + 1] = lower & (PART - 1)
    middle[i + 1] = ((lower >>> PART_BITS) | (upper << 8)) & (PART - 1)
    high[i + 1] = upper >> 16
  }
}

function splitTexts(values: readonly string[], from: number, to: number, tables: Float64Array[]): void {
  const last = tables.length - 1
  for (let i = from; i < to; i++) {
    let rest = BigInt(values[i]!)
    for (let part = 0; part < last; part++) {
      tables[part]![i + 1] = Number(BigInt.asUintN(PART_BITS, rest))
      rest >>= BigInt(PART_BITS)
    }
    tables[last]![i + 1] = Number(rest)
  }
}

function bitsOf(value: number | bigint | string): number {
  const integer = BigInt(value)
  return (integer < 0n ? -integer : integer).toString(2).length
}
