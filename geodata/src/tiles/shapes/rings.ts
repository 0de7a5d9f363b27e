/** Rings or lines of integer positions: x and y in turn, and the end of each list as an index of positions. */
export interface Rings {
  xy: number[]
  ends: number[]
}

/** Twice the area of a ring, positive if x turns towards y: an outer ring of MVT. */
export function ringArea(xy: ArrayLike<number>, from: number, end: number): number {
  let area = 0
  for (let i = from, before = end - 1; i < end; before = i++) {
    area += xy[before * 2]! * xy[i * 2 + 1]! - xy[i * 2]! * xy[before * 2 + 1]!
  }
  return area
}

/** On which side of the line a→b the position c lies: 0 if on it. Exact for tile coordinates. */
export function side(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/** Whether a position that is not on a ring is inside it. */
export function isInRing(xy: ArrayLike<number>, from: number, end: number, x: number, y: number): boolean {
  let isInside = false
  for (let i = from, before = end - 1; i < end; before = i++) {
    const ay = xy[i * 2 + 1]!
    const by = xy[before * 2 + 1]!
    if (ay > y === by > y) continue
    const ax = xy[i * 2]!
    const bx = xy[before * 2]!
    if (x < ax + ((bx - ax) * (y - ay)) / (by - ay)) isInside = !isInside
  }
  return isInside
}
