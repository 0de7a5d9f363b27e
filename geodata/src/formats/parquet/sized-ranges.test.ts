import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RowRange } from './parquet-block.ts'
import { RANGE_BYTES, type RowSizes, sizedRanges } from './sized-ranges.ts'

/** Measures rows whose sizes are given. */
function measuring(sizes: number[]) {
  return async ({ firstRow, rows }: RowRange, stepRows: number): Promise<RowSizes[]> => {
    const steps: RowSizes[] = []
    for (let row = firstRow - 1; row < firstRow - 1 + rows; row += stepRows) {
      const step = sizes.slice(row, Math.min(row + stepRows, firstRow - 1 + rows))
      steps.push({
        rows: step.length,
        bytes: step.reduce((sum, size) => sum + size, 0),
        largest: Math.max(...step),
      })
    }
    return steps
  }
}

const LIMITS = { rowBytes: RANGE_BYTES, maxBytes: 100 * RANGE_BYTES, fileBytes: 1 }

async function rangesOf(sizes: number[], limits = LIMITS): Promise<RowRange[]> {
  const block = { firstRow: 1, rows: sizes.length }
  return Array.fromAsync(sizedRanges(block, measuring(sizes), 'a.parquet', limits))
}

test('small rows are one range, large ones several, and no row is missing or twice', async () => {
  assert.deepEqual(await rangesOf(Array(5000).fill(100)), [{ firstRow: 1, rows: 5000 }])
  const third = RANGE_BYTES / 3
  const mixed = [...Array(2000).fill(10), ...Array(10).fill(third), ...Array(3000).fill(10)]
  const ranges = await rangesOf(mixed)
  assert.ok(ranges.length > 3)
  let next = 1
  for (const { firstRow, rows } of ranges) {
    assert.equal(firstRow, next)
    next += rows
    const bytes = mixed.slice(firstRow - 1, next - 1).reduce((sum, size) => sum + size, 0)
    assert.ok(bytes <= RANGE_BYTES)
  }
  assert.equal(next, mixed.length + 1)
})

test('a row that is too large is named, and so is a file whose rows are too large together', async () => {
  const sizes = [...Array(3000).fill(10), 5000, 10]
  await assert.rejects(rangesOf(sizes, { ...LIMITS, rowBytes: 1000 }), /row 3001 is larger than 1000 bytes/)
  await assert.rejects(rangesOf(sizes, { ...LIMITS, maxBytes: 30_000 }), /WAYLEAVE_MAX_EXPANSION/)
})
