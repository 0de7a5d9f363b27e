import { SourceError } from '../../source-error.ts'
import { expandsBeyond, largerThan } from '../reading/source-limits.ts'
import type { RowRange } from './parquet-block.ts'

/**
 * How many bytes of texts are read at once. A text in a dictionary takes its bytes once in the file, but as many
 * times as there are rows in the results of the database, which counts it once against its limit of memory.
 */
export const RANGE_BYTES = 128 << 20
const STEP_ROWS = 1024

/** The sizes of consecutive rows: how many rows, the bytes of their texts, and those of the largest row. */
export interface RowSizes {
  rows: number
  bytes: number
  largest: number
}

/** Measures the rows of a block in steps. */
export type Measure = (block: RowRange, stepRows: number) => Promise<RowSizes[]>

export interface RangeLimits {
  /** The max bytes of one row. */
  rowBytes: number
  /** The max bytes of all rows. */
  maxBytes: number
  fileBytes: number
}

/** Splits a block into ranges of rows whose texts fit into memory. Their sizes are computed without copying them. */
export async function* sizedRanges(
  block: RowRange,
  measure: Measure,
  file: string,
  limits: RangeLimits,
  stepRows = STEP_ROWS,
): AsyncGenerator<RowRange> {
  const { rowBytes, maxBytes, fileBytes } = limits
  const steps = await measure(block, stepRows)
  if (steps.reduce((sum, step) => sum + step.bytes, 0) > maxBytes)
    throw new SourceError(expandsBeyond(file, maxBytes, fileBytes))
  let range: RowRange = { firstRow: block.firstRow, rows: 0 }
  let bytes = 0
  for (const step of steps) {
    const firstRow = range.firstRow + range.rows
    const isLarge = step.largest > rowBytes
    if (isLarge && step.rows === 1)
      throw new SourceError(`${file}: row ${firstRow} is ${largerThan(rowBytes)}.`)
    if (bytes + step.bytes > RANGE_BYTES) {
      if (range.rows > 0) yield range
      range = { firstRow, rows: 0 }
      bytes = 0
    }
    if (step.rows > 1 && (isLarge || step.bytes > RANGE_BYTES)) {
      yield* sizedRanges({ firstRow, rows: step.rows }, measure, file, limits, 1)
      range = { firstRow: firstRow + step.rows, rows: 0 }
    } else {
      range.rows += step.rows
      bytes += step.bytes
    }
  }
  if (range.rows > 0) yield range
}
