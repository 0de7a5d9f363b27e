import type { Snapshot } from '@wayleave/geodata/features'
import type { Selected } from '../positions/selected.ts'

/**
 * The page without the features beyond its max number of bytes in the pack; it has at least one feature. The
 * next page begins with the first one that was left out.
 */
export async function shortenToBytes(
  snapshot: Snapshot,
  selected: Selected,
  maxBytes: number,
): Promise<Selected> {
  const { runs } = selected
  if ((await snapshot.bytesOf(runs)) <= maxBytes) return selected
  const sizes = await snapshot.sizesOf(runs.toArray())
  let bytes = 0
  for (let count = 0; count < sizes.length; count++) {
    bytes += sizes[count]!
    if (bytes > maxBytes && count > 0) return shorten(selected, count)
  }
  return selected
}

/** The page with only the first `count` of its features. */
export function shorten(selected: Selected, count: number): Selected {
  if (count >= selected.runs.count) return selected
  selected.runs.cut(count)
  return { runs: selected.runs, more: true }
}
