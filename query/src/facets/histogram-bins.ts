import { BLOCK_SHIFT, type CompiledColumn, dateText, timestampText } from '@wayleave/geodata/features'
import { boundOf } from '../by-codes/code-bounds.ts'
import type { TimedWork } from '../work/timed-work.ts'

/**
 * Intervals of equal width between the smallest and the largest value of a column, of the whole dataset: they
 * stay the same when a filter changes.
 */
export interface HistogramBins {
  /** The ends of the intervals, as in features: one more than there are intervals. */
  edges: (string | number | bigint)[]
  /** The first code of each interval, and the end of the last one. */
  codeEdges: number[]
  /** The interval of each position, counted from 1, and 0 for null; null until `loadPositionBins` has ended. */
  binOfPosition: Uint8Array | null
  /** How many positions of each block are in each interval, block after block. Null until `loadPositionBins` has ended. */
  blockCounts: Uint16Array | null
}

/** The max number of histograms that are kept for a column: the panel of filters and the charts differ. */
const MAX_CACHED = 2

/** Positions whose intervals are looked up without a pause: several blocks, about a millisecond. */
const STEP = 1 << 15

const cached = new WeakMap<CompiledColumn, Map<number, HistogramBins>>()

/** Null for a column without values, and for values that have no distance. At most 100 intervals. */
export function histogramBins(column: CompiledColumn, binCount: number): HistogramBins | null {
  const { values } = column
  if (values.length === 0 || typeof values[0] === 'string' || column.type === 'boolean') return null
  let binsByCount = cached.get(column)
  if (!binsByCount) {
    binsByCount = new Map()
    cached.set(column, binsByCount)
  }
  let bins = binsByCount.get(binCount)
  if (!bins) {
    bins = makeBins(column, binCount)
    const [oldest] = binsByCount.keys()
    if (binsByCount.size >= MAX_CACHED) binsByCount.delete(oldest!)
    binsByCount.set(binCount, bins)
  }
  return bins
}

function makeBins(column: CompiledColumn, binCount: number): HistogramBins {
  const edges = edgesOf(column, binCount)
  const codeEdges = edges.map((edge) => boundOf(column, edge, false))
  codeEdges[codeEdges.length - 1] = column.codeCount
  return {
    edges: edges.map((edge) => shown(column, edge)),
    codeEdges,
    binOfPosition: null,
    blockCounts: null,
  }
}

/**
 * Looks up the interval of every position, once for a column. Positions are counted in their order, so reading a byte for
 * each is several times as fast as finding the interval of its code among up to millions of codes.
 */
export async function loadPositionBins(
  { codes, codeCount, blockMin }: CompiledColumn,
  bins: HistogramBins,
  work: TimedWork,
): Promise<void> {
  if (bins.binOfPosition) return
  const { codeEdges } = bins
  const binOf = new Uint8Array(codeCount)
  for (let bin = 1; bin < codeEdges.length; bin++) binOf.fill(bin, codeEdges[bin - 1], codeEdges[bin])
  const binOfPosition = new Uint8Array(codes.length)
  const blockCounts = new Uint16Array(blockMin.length * codeEdges.length)
  await work.each(Math.ceil(codes.length / STEP), (i) => {
    const end = Math.min(codes.length, (i + 1) * STEP)
    if (codes instanceof Uint8Array) look8(codes, binOf, i * STEP, end, binOfPosition)
    else if (codes instanceof Uint16Array) look16(codes, binOf, i * STEP, end, binOfPosition)
    else look32(codes, binOf, i * STEP, end, binOfPosition)
    countByBlock(binOfPosition, i * STEP, end, codeEdges.length, blockCounts)
  })
  bins.blockCounts = blockCounts
  bins.binOfPosition = binOfPosition
}

function countByBlock(
  bins: Uint8Array,
  from: number,
  to: number,
  binCount: number,
  blockCounts: Uint16Array,
): void {
  for (let position = from; position < to; position++)
    blockCounts[(position >>> BLOCK_SHIFT) * binCount + bins[position]!]!++
}

// Three loops, because one loop that gets arrays of three widths takes three to five times as long.

function look8(codes: Uint8Array, binOf: Uint8Array, from: number, to: number, bins: Uint8Array): void {
  for (let position = from; position < to; position++) bins[position] = binOf[codes[position]!]!
}

function look16(codes: Uint16Array, binOf: Uint8Array, from: number, to: number, bins: Uint8Array): void {
  for (let position = from; position < to; position++) bins[position] = binOf[codes[position]!]!
}

function look32(codes: Uint32Array, binOf: Uint8Array, from: number, to: number, bins: Uint8Array): void {
  for (let position = from; position < to; position++) bins[position] = binOf[codes[position]!]!
}

function edgesOf({ values, type }: CompiledColumn, binCount: number): (number | bigint)[] {
  const first = values[0] as number | bigint
  const last = values[values.length - 1] as number | bigint
  if (typeof first === 'bigint' || typeof last === 'bigint') {
    const [min, max] = [BigInt(first), BigInt(last)]
    const edges = Array.from(
      { length: binCount + 1 },
      (_, i) => min + ((max - min) * BigInt(i)) / BigInt(binCount),
    )
    return [...new Set(edges)]
  }
  // Days and integers are whole, and so are the ends of their intervals.
  const isWhole = type !== 'number'
  const range = last - first
  const edges = Array.from({ length: binCount }, (_, i) => {
    const share = i / binCount
    // The range of very large numbers may not be a finite number.
    const edge = Number.isFinite(range) ? first + range * share : first * (1 - share) + last * share
    return isWhole ? Math.floor(edge) : edge
  })
  const distinct = [...new Set([...edges, last])]
  return distinct.length === 1 ? [first, last] : distinct
}

function shown({ type }: CompiledColumn, edge: number | bigint): string | number | bigint {
  if (type === 'date') return dateText(Number(edge))
  return type === 'timestamp' ? timestampText(BigInt(edge)) : edge
}
