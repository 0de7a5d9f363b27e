const NODE = 8

/**
 * A tree of bounding boxes over the edges of a geometry, eight per node. Edges are consecutive along a ring
 * or line, so neighbours in the list are close in space and no sorting is needed.
 */
export interface EdgeTree {
  /** Four numbers per box: west, south, east, north; level by level, starting with the edges' parents. */
  boxes: Float64Array
  /** The index of the first box of each level; an additional entry marks the end. */
  levels: number[]
}

/** `edges` has x0, y0, x1, y1 for each edge. */
export function buildEdgeTree(edges: Float64Array): EdgeTree {
  const levels = [0]
  for (let size = edges.length / 4; size > 1; ) {
    size = Math.ceil(size / NODE)
    levels.push(levels.at(-1)! + size)
  }
  const boxes = new Float64Array(levels.at(-1)! * 4)
  for (let level = 0; level + 1 < levels.length; level++) {
    const count = level === 0 ? edges.length / 4 : levels[level]! - levels[level - 1]!
    const source = level === 0 ? edges : boxes.subarray(levels[level - 1]! * 4)
    for (let node = levels[level]!; node < levels[level + 1]!; node++) {
      const first = (node - levels[level]!) * NODE
      cover(boxes, node * 4, source, first * 4, Math.min(first + NODE, count) * 4)
    }
  }
  return { boxes, levels }
}

// An edge's four numbers can be used as a box too, because min and max are taken over both ends.
function cover(boxes: Float64Array, at: number, source: Float64Array, from: number, to: number): void {
  let west = Infinity
  let south = Infinity
  let east = -Infinity
  let north = -Infinity
  for (let i = from; i < to; i += 4) {
    west = Math.min(west, source[i]!, source[i + 2]!)
    south = Math.min(south, source[i + 1]!, source[i + 3]!)
    east = Math.max(east, source[i]!, source[i + 2]!)
    north = Math.max(north, source[i + 1]!, source[i + 3]!)
  }
  boxes[at] = west
  boxes[at + 1] = south
  boxes[at + 2] = east
  boxes[at + 3] = north
}

/** Fills `matchingEdges` with the edges whose boxes intersect the given box. */
export function searchEdges(
  tree: EdgeTree,
  edges: Float64Array,
  west: number,
  south: number,
  east: number,
  north: number,
  matchingEdges: number[],
): void {
  matchingEdges.length = 0
  const { boxes, levels } = tree
  if (levels.length === 1) {
    if (edges.length > 0 && meets(edges, 0, west, south, east, north)) matchingEdges.push(0)
    return
  }
  visit(levels.length - 2, levels.at(-2)!)

  function visit(level: number, node: number): void {
    const first = (node - levels[level]!) * NODE
    if (level === 0) {
      const end = Math.min(first + NODE, edges.length / 4)
      for (let edge = first; edge < end; edge++) {
        if (meets(edges, edge * 4, west, south, east, north)) matchingEdges.push(edge)
      }
      return
    }
    const start = levels[level - 1]!
    const end = Math.min(start + first + NODE, levels[level]!)
    for (let child = start + first; child < end; child++) {
      const at = child * 4
      if (
        boxes[at]! <= east &&
        boxes[at + 1]! <= north &&
        boxes[at + 2]! >= west &&
        boxes[at + 3]! >= south
      ) {
        visit(level - 1, child)
      }
    }
  }
}

function meets(edges: Float64Array, at: number, west: number, south: number, east: number, north: number) {
  const x0 = edges[at]!
  const y0 = edges[at + 1]!
  const x1 = edges[at + 2]!
  const y1 = edges[at + 3]!
  return (
    (x0 < x1 ? x0 <= east && x1 >= west : x1 <= east && x0 >= west) &&
    (y0 < y1 ? y0 <= north && y1 >= south : y1 <= north && y0 >= south)
  )
}
