/** The max number of bitmaps of a column. Each takes an eighth of a byte per row. */
export const MAX_EDGES = 32

/** Ascending codes, and for each the rows whose codes are below it. */
export interface CodeBitmaps {
  edges: Uint32Array
  /** One bitmap after another. */
  below: Int32Array
}

/** The words of 32 bits that a bit per row takes. */
export function wordsOf(rows: number): number {
  return (rows + 31) >>> 5
}

/**
 * For some codes, the edges, the rows whose codes are below: a bit per row. Counting the rows that meet several
 * conditions then takes a few operations on words of 32 rows. Between any code and the nearest edge lie at most one in
 * `MAX_EDGES` of the rows, whose bits are set or cleared one by one. A column of few values has an edge for each of
 * them.
 */
export function codeBitmaps(starts: Uint32Array, order: Uint32Array): CodeBitmaps {
  const edges = edgesOf(starts, order.length)
  const words = wordsOf(order.length)
  const below = new Int32Array(edges.length * words)
  for (let edge = 0, from = 0; edge < edges.length; edge++) {
    const at = edge * words
    if (edge > 0) below.copyWithin(at, at - words, at)
    const to = starts[edges[edge]!]!
    for (; from < to; from++) {
      const row = order[from]!
      below[at + (row >>> 5)]! |= 1 << row
    }
  }
  return { edges, below }
}

/** Edges that no row, or every row, is below are left out. */
function edgesOf(starts: Uint32Array, rows: number): Uint32Array {
  const codeCount = starts.length - 1
  const isInside = (code: number) => starts[code]! > 0 && starts[code]! < rows
  if (codeCount <= MAX_EDGES + 1) {
    return Uint32Array.from({ length: codeCount }, (_, code) => code).filter(isInside)
  }
  const edges = new Set<number>()
  let code = 0
  for (let i = 1; i <= MAX_EDGES; i++) {
    // The first code that has at least this share of the rows below it.
    while (starts[code]! * (MAX_EDGES + 1) < rows * i) code++
    if (isInside(code)) edges.add(code)
  }
  return Uint32Array.from(edges)
}
