import type { Snapshot } from '@wayleave/geodata/features'
import type { Selected } from '../positions/selected.ts'

/**
 * The page without the features beyond its max number of bytes in the pack; it has at least one feature. The
 * next page begins with the first one that was left out.
 */
export function shortenToBytes(snapshot: Snapshot, selected: Selected, maxBytes: number): Selected {
  const { runs } = selected
  if (snapshot.bytesOf(runs) <= maxBytes) return selected
  const { offsets } = snapshot
  let bytes = 0
  let count = 0
  for (let run = 0; run < runs.length; run++) {
    const end = runs.bounds[run * 2 + 1]!
    for (let position = runs.bounds[run * 2]!; position < end; position++) {
      bytes += offsets[position + 1]! - offsets[position]!
      if (bytes > maxBytes && count > 0) return shorten(selected, count)
      count++
    }
  }
  return selected
}

/** The page with only the first `count` of its features. */
export function shorten(selected: Selected, count: number): Selected {
  if (count >= selected.runs.count) return selected
  selected.runs.cut(count)
  return { runs: selected.runs, more: true }
}
