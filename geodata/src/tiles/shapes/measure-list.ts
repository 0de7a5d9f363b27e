/** Measures a line or ring of a shape, which is the positions from `from` to `end` (exclusive) of `xy`. */

/** The area of a ring in square tile units, computed from its first position on to keep it precise. */
export function ringAreaIn(xy: Float64Array, from: number, end: number, unit: number): number {
  const [x0, y0] = [xy[from * 2]!, xy[from * 2 + 1]!]
  let area = 0
  let [bx, by] = [0, 0]
  for (let i = from + 1; i < end; i++) {
    const x = (xy[i * 2]! - x0) / unit
    const y = (xy[i * 2 + 1]! - y0) / unit
    area += bx * y - x * by
    bx = x
    by = y
  }
  return Math.abs(area) / 2
}

/** The length of a line in tile units. */
export function lineLength(xy: Float64Array, from: number, end: number, unit: number): number {
  let length = 0
  for (let i = from + 1; i < end; i++)
    length += Math.hypot(xy[i * 2]! - xy[i * 2 - 2]!, xy[i * 2 + 1]! - xy[i * 2 - 1]!)
  return length / unit
}

/** A box in world coordinates: minX, minY, maxX, maxY. */
export function listBox(
  xy: Float64Array,
  from: number,
  end: number,
): [minX: number, minY: number, maxX: number, maxY: number] {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = from; i < end; i++) {
    minX = Math.min(minX, xy[i * 2]!)
    maxX = Math.max(maxX, xy[i * 2]!)
    minY = Math.min(minY, xy[i * 2 + 1]!)
    maxY = Math.max(maxY, xy[i * 2 + 1]!)
  }
  return [minX, minY, maxX, maxY]
}
