import type { Position } from '../feature.ts'
import { SourceError } from '../source-error.ts'

/**
 * An arc becomes segments of at most this angle, one degree. A segment then deviates from its arc by at most
 * 1 - cos(0.5°) of the radius, which is 0.004 %.
 */
const MAX_STEP = Math.PI / 180
/** Three positions whose deviation from a line is below this share of their distance are on a line. */
const STRAIGHT = 1e-12
/** A file of a few megabytes could otherwise describe enough arcs to fill the memory. */
const MAX_POSITIONS = 20_000_000

/**
 * The positions of a circular string: each arc is given by its start, a position on it and its end, which is
 * the start of the next one. The given positions are kept exactly. If an arc ends where it starts, it is a
 * circle whose second position is opposite to the first (ISO 13249-3).
 */
export function linearizeArcs(positions: Position[]): Position[] {
  if (positions.length === 0) return []
  if (positions.length < 3 || positions.length % 2 === 0)
    throw new SourceError(
      `a circular string has ${positions.length} positions; it needs three, five, seven and so on`,
    )
  const line = [positions[0]!]
  for (let i = 0; i + 2 < positions.length; i += 2) {
    addArc(line, positions[i]!, positions[i + 1]!, positions[i + 2]!)
    if (line.length > MAX_POSITIONS)
      throw new SourceError(`the curves need more than ${MAX_POSITIONS} positions`)
  }
  return line
}

function addArc(line: Position[], from: Position, by: Position, to: Position): void {
  const isCircle = from[0] === to[0] && from[1] === to[1]
  const center = isCircle ? [(from[0]! + by[0]!) / 2, (from[1]! + by[1]!) / 2] : centerOf(from, by, to)
  if (center === null) {
    line.push(by, to)
    return
  }
  const angle = ([x, y]: Position) => Math.atan2(y! - center[1]!, x! - center[0]!)
  const [a, b, c] = [angle(from), angle(by), angle(to)]
  const isLeft = isCircle || cross(from, by, to) > 0
  addSegments(line, from, by, center, a, turn(a, b, isLeft))
  addSegments(line, by, to, center, b, turn(b, c, isLeft))
}

/** The angle from `a` to `b`, positive if the turn is to the left. */
function turn(a: number, b: number, isLeft: boolean): number {
  const left = (((b - a) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)
  return isLeft ? left : left - 2 * Math.PI
}

function addSegments(
  line: Position[],
  from: Position,
  to: Position,
  center: Position,
  start: number,
  sweep: number,
): void {
  const radius = Math.hypot(from[0]! - center[0]!, from[1]! - center[1]!)
  const count = Math.ceil(Math.abs(sweep) / MAX_STEP)
  for (let i = 1; i < count; i++) {
    const angle = start + (sweep * i) / count
    const position = [center[0]! + radius * Math.cos(angle), center[1]! + radius * Math.sin(angle)]
    if (from.length > 2) position.push(from[2]! + ((to[2]! - from[2]!) * i) / count)
    line.push(position)
  }
  line.push(to)
}

function cross([x0, y0]: Position, [x1, y1]: Position, [x2, y2]: Position): number {
  return (x1! - x0!) * (y2! - y0!) - (x2! - x0!) * (y1! - y0!)
}

/** The center of the circle through three positions; null if they are on a line or not finite. */
function centerOf(from: Position, by: Position, to: Position): Position | null {
  const [bx, by_] = [by[0]! - from[0]!, by[1]! - from[1]!]
  const [cx, cy] = [to[0]! - from[0]!, to[1]! - from[1]!]
  const double = 2 * (bx * cy - by_ * cx)
  const [b2, c2] = [bx * bx + by_ * by_, cx * cx + cy * cy]
  if (!(Math.abs(double) > STRAIGHT * (b2 + c2))) return null
  return [from[0]! + (cy * b2 - by_ * c2) / double, from[1]! + (bx * c2 - cx * b2) / double]
}

/** One line from the parts of a compound curve, each of which starts where the previous one ends. */
export function joinParts(parts: Position[][]): Position[] {
  const line: Position[] = []
  for (const part of parts) {
    const [last, first] = [line.at(-1), part[0]]
    const isJoint = last !== undefined && first !== undefined && last[0] === first[0] && last[1] === first[1]
    for (let i = isJoint ? 1 : 0; i < part.length; i++) line.push(part[i]!)
  }
  return line
}
