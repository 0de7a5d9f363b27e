import { LINE, POINT } from '../tile-geometry.ts'
import { type Shape, ShapeBuilder } from './shape.ts'

const builder = new ShapeBuilder()

/** A box in world coordinates. */
export interface WorldBox {
  minX: number
  minY: number
  maxX: number
  maxY: number
}

/**
 * The part of a shape inside a box; null if there is none. Points on the box's right or lower side are outside,
 * so that of neighbouring boxes exactly one has a point.
 */
export function clipShape(shape: Shape, box: WorldBox): Shape | null {
  if (shape.type === POINT) return clipPoints(shape, box)
  if (shape.maxX < box.minX || shape.minX > box.maxX || shape.maxY < box.minY || shape.minY > box.maxY)
    return null
  const narrow =
    shape.minX >= box.minX && shape.maxX <= box.maxX ? shape : clipAxis(shape, 0, box.minX, box.maxX)
  if (narrow === null) return null
  const part =
    narrow.minY >= box.minY && narrow.maxY <= box.maxY ? narrow : clipAxis(narrow, 1, box.minY, box.maxY)
  return part === null || part === shape || !surrounds(part, box) ? part : null
}

/**
 * Whether a clipped polygon has nothing inside the box, which lies in a hole or between the arms of a spiral: rings
 * then run along the sides of the box alone, and there and back, or twice around it.
 */
function surrounds({ type, xy, ends, holes }: Shape, box: WorldBox): boolean {
  if (type === LINE) return false
  let covered = 0
  let from = 0
  for (let list = 0; list < ends.length; list++) {
    const end = ends[list]!
    let area = 0
    for (let i = from; i < end; i++) {
      const next = i + 1 < end ? i + 1 : from
      const [ax, ay, bx, by] = [xy[i * 2]!, xy[i * 2 + 1]!, xy[next * 2]!, xy[next * 2 + 1]!]
      const isOnSide =
        (ax === bx && (ax === box.minX || ax === box.maxX)) ||
        (ay === by && (ay === box.minY || ay === box.maxY))
      if (!isOnSide) return false
      area += (ax - box.minX) * (by - box.minY) - (bx - box.minX) * (ay - box.minY)
    }
    covered += holes[list] === 1 ? -Math.abs(area) : Math.abs(area)
    from = end
  }
  // Along the sides alone, a polygon covers all of the box or nothing.
  return covered / 2 < ((box.maxX - box.minX) * (box.maxY - box.minY)) / 2
}

function clipPoints(shape: Shape, { minX, minY, maxX, maxY }: WorldBox): Shape | null {
  const { xy } = shape
  const isIn = (x: number, y: number) => x >= minX && x < maxX && y >= minY && y < maxY
  for (let i = 0; i < xy.length; i += 2) if (isIn(xy[i]!, xy[i + 1]!)) builder.add(xy[i]!, xy[i + 1]!)
  if (builder.listLength === 0) return null
  if (builder.listLength * 2 === xy.length) {
    builder.dropList()
    return shape
  }
  builder.endList(false)
  return builder.finish(shape)
}

/** Clips to `min` ≤ coordinate ≤ `max` of one axis: 0 is x, 1 is y. */
function clipAxis(shape: Shape, axis: 0 | 1, min: number, max: number): Shape | null {
  const { xy, ends, holes, type } = shape
  let from = 0
  let isOuterGone = false
  for (let list = 0; list < ends.length; list++) {
    const end = ends[list]!
    const isHole = holes[list] === 1
    if (type === LINE) clipLine(xy, from, end, axis, min, max)
    else if (!isHole || !isOuterGone) {
      clipRing(xy, from, end, axis, min, max)
      const isGone = builder.listLength < 3
      if (isGone) builder.dropList()
      else builder.endList(isHole)
      if (!isHole) isOuterGone = isGone
    }
    from = end
  }
  return builder.isEmpty ? null : builder.finish(shape)
}

function clipLine(xy: Float64Array, from: number, end: number, axis: 0 | 1, min: number, max: number): void {
  for (let i = from; i + 1 < end; i++) {
    const a = xy[i * 2 + axis]!
    const b = xy[i * 2 + 2 + axis]!
    const isAIn = a >= min && a <= max
    if (isAIn) builder.add(xy[i * 2]!, xy[i * 2 + 1]!)
    else if (a < min) {
      if (b >= min) addCrossing(xy, i, i + 1, axis, min)
    } else if (b <= max) addCrossing(xy, i, i + 1, axis, max)
    if (b < min && a >= min) addCrossing(xy, i, i + 1, axis, min)
    if (b > max && a <= max) addCrossing(xy, i, i + 1, axis, max)
    // The line leaves the box here: what follows is another line.
    if ((b < min || b > max) && builder.listLength > 0) endLine()
  }
  const last = xy[(end - 1) * 2 + axis]!
  if (last >= min && last <= max) builder.add(xy[(end - 1) * 2]!, xy[(end - 1) * 2 + 1]!)
  if (builder.listLength > 0) endLine()
}

function endLine(): void {
  if (builder.listLength < 2) builder.dropList()
  else builder.endList(false)
}

/** Sutherland and Hodgman's algorithm for both sides of one axis. */
function clipRing(xy: Float64Array, from: number, end: number, axis: 0 | 1, min: number, max: number): void {
  for (let i = from; i < end; i++) {
    const next = i + 1 < end ? i + 1 : from
    const a = xy[i * 2 + axis]!
    const b = xy[next * 2 + axis]!
    if (a >= min && a <= max) builder.add(xy[i * 2]!, xy[i * 2 + 1]!)
    if (a < b) {
      if (a < min && b > min) addCrossing(xy, i, next, axis, min)
      if (a < max && b > max) addCrossing(xy, i, next, axis, max)
    } else {
      if (a > max && b < max) addCrossing(xy, i, next, axis, max)
      if (a > min && b < min) addCrossing(xy, i, next, axis, min)
    }
  }
}

/**
 * Adds the point at which a segment crosses `at`. It is computed from the segment's ends in a fixed order, so
 * that two polygons that share the segment in opposite directions get the same point.
 */
function addCrossing(xy: Float64Array, i: number, j: number, axis: 0 | 1, at: number): void {
  const isOrdered = xy[i * 2 + axis]! < xy[j * 2 + axis]!
  const low = isOrdered ? i : j
  const high = isOrdered ? j : i
  const other = 1 - axis
  const a = xy[low * 2 + axis]!
  const b = xy[high * 2 + axis]!
  const c = xy[low * 2 + other]!
  const d = xy[high * 2 + other]!
  const crossing = c + ((d - c) * (at - a)) / (b - a)
  if (axis === 0) builder.add(at, crossing)
  else builder.add(crossing, at)
}
