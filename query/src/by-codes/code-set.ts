import type { CompiledColumn } from '@wayleave/geodata/features'

/**
 * A set of codes of a column: ranges [from, to) in ascending order that neither overlap nor touch. Pairs are
 * stored one after another.
 */
export type CodeSet = readonly number[]

const NO_CODES: CodeSet = []

export function codeRange(from: number, to: number): CodeSet {
  return from < to ? [from, to] : NO_CODES
}

/** The codes below `codeCount` that are not in the set. */
export function complement(set: CodeSet, codeCount: number): CodeSet {
  const rest: number[] = []
  let next = 0
  for (let i = 0; i < set.length; i += 2) {
    if (next < set[i]!) rest.push(next, set[i]!)
    next = set[i + 1]!
  }
  if (next < codeCount) rest.push(next, codeCount)
  return rest
}

/** The union of any number of sets, by sorting their ranges once. */
export function unionOf(sets: readonly CodeSet[]): CodeSet {
  if (sets.length === 1) return sets[0]!
  const ranges: [from: number, to: number][] = []
  for (const set of sets) for (let i = 0; i < set.length; i += 2) ranges.push([set[i]!, set[i + 1]!])
  ranges.sort((a, b) => a[0] - b[0])
  const merged: number[] = []
  for (const [from, to] of ranges) {
    const last = merged.length - 1
    if (last > 0 && from <= merged[last]!) merged[last] = Math.max(merged[last]!, to)
    else merged.push(from, to)
  }
  return merged
}

/** The codes that are in all sets: those that are in no complement. */
export function intersectionOf(sets: readonly CodeSet[], codeCount: number): CodeSet {
  if (sets.length === 1) return sets[0]!
  return complement(unionOf(sets.map((set) => complement(set, codeCount))), codeCount)
}

/** The number of positions whose code is in the set. */
export function countPositions(column: CompiledColumn, set: CodeSet): number {
  let count = 0
  for (let i = 0; i < set.length; i += 2) count += column.countOf(set[i]!, set[i + 1]!)
  return count
}

export function hasCode(set: CodeSet, code: number): boolean {
  let low = 0
  let high = set.length / 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if (set[middle * 2 + 1]! <= code) low = middle + 1
    else high = middle
  }
  return low * 2 < set.length && set[low * 2]! <= code
}
