/** The features of one page, by position, in the order of the answer. */
export interface Selected {
  /** Only the first `count` are meant. Empty where the page is one run of the snapshot. */
  positions: Uint32Array
  /** Where that run begins; -1 where `positions` says it. */
  first: number
  count: number
  /** Whether the positions ascend; in another order they are those of a sorted page. */
  ascending: boolean
  /** Whether there are features after these. */
  more: boolean
}

export function positionAt({ positions, first }: Selected, i: number): number {
  return first >= 0 ? first + i : positions[i]!
}

/** A run of a snapshot of `rows` features that begins at `first`. */
export function selectRun(first: number, limit: number, rows: number): Selected {
  const count = Math.max(0, Math.min(limit, rows - first))
  return { positions: NONE, first, count, ascending: true, more: first + count < rows }
}

/** What a search found that was asked for one more than the page holds. */
export function selectFound(positions: Uint32Array, found: number, limit: number): Selected {
  return { positions, first: -1, count: Math.min(found, limit), ascending: true, more: found > limit }
}

const NONE = new Uint32Array(0)
