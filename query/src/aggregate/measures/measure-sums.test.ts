import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompiledColumn } from '@wayleave/geodata/features'
import fc from 'fast-check'
import { integerParts, joinParts, needsParts } from '../columns/integer-parts.ts'
import { CompensatedSums } from './measure-sums.ts'

type Values = CompiledColumn['values']

/** A column with one position for each value; only what sums read. */
function columnOf(values: Values, codes: Uint32Array): CompiledColumn {
  return { type: 'integer', values, codes } as unknown as CompiledColumn
}

function sizeOf(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** As a dictionary holds them: doubles below 2^53, 64 bits, or texts. */
function dictionaryOf(integers: readonly bigint[]): Values {
  const largest = integers
    .map(sizeOf)
    .sort((a, b) => (a < b ? -1 : 1))
    .at(-1)!
  if (largest < 2n ** 53n) return Float64Array.from(integers, Number)
  return largest < 2n ** 63n ? BigInt64Array.from(integers) : integers.map(String)
}

test('sums of integers of any size are exact', () => {
  const bits = fc.constantFrom(3, 24, 25, 47, 48, 52, 53, 62, 63, 90, 126)
  const integers = bits.chain((count) =>
    fc.array(fc.bigInt({ min: -(2n ** BigInt(count)) + 1n, max: 2n ** BigInt(count) - 1n }), {
      minLength: 1,
      maxLength: 30,
    }),
  )
  const repeated = fc.constantFrom(1, 7, 100_000)
  fc.assert(
    fc.property(integers, repeated, (all, times) => {
      const sorted = [...new Set(all)].sort((a, b) => (a < b ? -1 : 1))
      const values = dictionaryOf(sorted)
      const column = columnOf(values, new Uint32Array(sorted.length * times))
      const expected = sorted.reduce((sum, value) => sum + value, 0n) * BigInt(times)
      if (!needsParts(column)) {
        assert.ok(values instanceof Float64Array)
        assert.ok(expected <= 2n ** 53n && expected >= -(2n ** 53n))
        return
      }
      const { tables, fill } = integerParts(column)
      fill(0, sorted.length)
      const sums = tables.map((table) => Float64Array.of(table.reduce((sum, part) => sum + part * times, 0)))
      assert.equal(BigInt(joinParts(sums, 0)), expected)
      assert.ok(tables.every(([none]) => none === 0))
    }),
    { numRuns: 500, seed: 41 },
  )
})

/** The sum of doubles as an integer: all are multiples of the smallest double. */
function exactSum(numbers: readonly number[]): bigint {
  return numbers.reduce((sum, number) => sum + scaled(number), 0n)
}

function scaled(number: number): bigint {
  const [bits] = new BigUint64Array(Float64Array.of(number).buffer)
  const exponent = (bits! >> 52n) & 0x7ffn
  const fraction = bits! & (2n ** 52n - 1n)
  const size = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n)
  return number < 0 ? -size : size
}

test('sums of doubles are as exact as with twice as many bits, also of decimals and of groups that are merged', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e290, max: 1e290 }),
    fc.integer({ min: -10_000, max: 10_000 }).map((cents) => cents / 100),
    fc.constantFrom(1e100, -1e100, 1, 1e-300, 5e-324, -0),
  )
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 200 }), (numbers) => {
      const sums = new CompensatedSums(3)
      const groups = Uint32Array.from(numbers, (_, i) => i % 3)
      sums.add(Float64Array.from(numbers), 1, groups, numbers.length)
      sums.merge(1, 0)
      sums.merge(2, 0)
      const own = sums.sum(0)
      const exact = exactSum(numbers)
      const size = exactSum(numbers.map(Math.abs))
      const error = scaled(own) - exact
      // An ulp of the result, and 200 squared roundings of the sum of all sizes.
      const allowed = sizeOf(exact) / 2n ** 52n + (size * 40_000n) / 2n ** 104n + 1n
      assert.ok(sizeOf(error) <= allowed, `${own}: ${numbers}`)
    }),
    { numRuns: 1000, seed: 41 },
  )
})
