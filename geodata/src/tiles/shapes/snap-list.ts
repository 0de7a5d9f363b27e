import { side } from './rings.ts'

/** How positions of the world become positions of a tile. */
export interface Grid {
  /** World coordinates of the tile's corner. */
  left: number
  top: number
  /** World units in a tile unit. */
  unit: number
  /** Tile units between neighbouring positions. */
  step: number
}

/**
 * Moves the positions of a line or ring to the tile's grid and appends those that are left to `out`: equal
 * neighbours become one, and positions on a straight line between their neighbours are left out. Where a
 * position goes depends on nothing but itself, so a border that two polygons share stays shared, and positions
 * that are left out change no line.
 *
 * Returns how many positions were appended: none for a ring without area or a line without length.
 */
export function snapList(
  xy: Float64Array,
  from: number,
  end: number,
  { left, top, unit, step }: Grid,
  isRing: boolean,
  out: number[],
): number {
  const first = out.length
  const cell = unit * step
  let lastX = NaN
  let lastY = NaN
  for (let i = from; i < end; i++) {
    // `| 0` makes them integers to V8: it holds an array with a -0 as floating-point numbers, which are slower.
    const x = (Math.round((xy[i * 2]! - left) / cell) | 0) * step
    const y = (Math.round((xy[i * 2 + 1]! - top) / cell) | 0) * step
    if (x === lastX && y === lastY) continue
    append(out, first, x, y, isRing)
    lastX = x
    lastY = y
  }
  if (isRing) closeRing(out, first)
  const count = (out.length - first) / 2
  if (count >= (isRing ? 3 : 2)) return count
  out.length = first
  return 0
}

function append(out: number[], first: number, x: number, y: number, isRing: boolean): void {
  for (let last = out.length - 2; last >= first; last = out.length - 2) {
    const bx = out[last]!
    const by = out[last + 1]!
    if (bx === x && by === y) return
    if (last === first) break
    if (!isBetween(out[last - 2]!, out[last - 1]!, bx, by, x, y, isRing)) break
    out.pop()
    out.pop()
  }
  out.push(x, y)
}

/** Whether b can be left out between a and c. A ring may not turn back on itself; a line may. */
function isBetween(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  isRing: boolean,
): boolean {
  if (side(ax, ay, bx, by, cx, cy) !== 0) return false
  return isRing || (bx - ax) * (cx - bx) + (by - ay) * (cy - by) > 0
}

/** Does the same for the neighbours at a ring's end and beginning. */
function closeRing(out: number[], first: number): void {
  for (let changed = true; changed && out.length - first >= 6; ) {
    changed = false
    const end = out.length
    const [ax, ay] = [out[end - 4]!, out[end - 3]!]
    const [bx, by] = [out[end - 2]!, out[end - 1]!]
    const [cx, cy] = [out[first]!, out[first + 1]!]
    const [dx, dy] = [out[first + 2]!, out[first + 3]!]
    if (side(ax, ay, bx, by, cx, cy) === 0) {
      out.length = end - 2
      changed = true
    } else if (side(bx, by, cx, cy, dx, dy) === 0) {
      out.splice(first, 2)
      changed = true
    }
  }
}
