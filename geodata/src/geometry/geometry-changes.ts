import type { Conversion, Position } from '../feature.ts'

/** How many features of a source have geometries that were changed for publishing or look wrong, for the report. */
export interface GeometryChanges {
  /** Features with coordinates slightly outside the world, and the largest excess in degrees. */
  clamped: number
  maxExcess: number
  /** Features whose curves became lines, and features whose surfaces became polygons. */
  curves: number
  surfaces: number
  /** Points at 0/0 in the source's coordinates, and points that have one zero, such as those of a grid. */
  zeroPoints: number
  halfZeroPoints: number
}

export function noChanges(): GeometryChanges {
  return { clamped: 0, maxExcess: 0, curves: 0, surfaces: 0, zeroPoints: 0, halfZeroPoints: 0 }
}

export function joinChanges(into: GeometryChanges, other: GeometryChanges): void {
  into.clamped += other.clamped
  into.maxExcess = Math.max(into.maxExcess, other.maxExcess)
  into.curves += other.curves
  into.surfaces += other.surfaces
  into.zeroPoints += other.zeroPoints
  into.halfZeroPoints += other.halfZeroPoints
}

/** Counts one point, before its coordinates are transformed. */
export function countZeros(changes: GeometryChanges, coordinates: Position): void {
  const isZeroX = coordinates?.[0] === 0
  const isZeroY = coordinates?.[1] === 0
  if (isZeroX && isZeroY) changes.zeroPoints++
  else if (isZeroX || isZeroY) changes.halfZeroPoints++
}

/** Counts one feature. */
export function countConversion(changes: GeometryChanges, conversion: Conversion): void {
  if (conversion === 'curves') changes.curves++
  else if (conversion === 'surfaces') changes.surfaces++
}

/** Sentences for the publisher's report. */
export function describeChanges(changes: GeometryChanges): string[] {
  const { clamped, maxExcess, curves, surfaces, zeroPoints, halfZeroPoints } = changes
  const notes: string[] = []
  // A grid of whole degrees has points on both axes.
  if (zeroPoints > 0 && halfZeroPoints === 0)
    notes.push(
      `${features(zeroPoints)} the coordinates 0/0, which usually means that the place is not known. If so, leave these coordinates empty: such features are published without a geometry.`,
    )
  if (clamped > 0)
    notes.push(
      `${features(clamped)} coordinates up to ${degrees(maxExcess)}° beyond ±180° or ±90°: these were moved to the edge.`,
    )
  if (curves > 0)
    notes.push(
      `${features(curves)} curves: these became lines of segments of at most 1° of their circle, which deviate by at most 0.004 % of its radius.`,
    )
  if (surfaces > 0)
    notes.push(
      `${features(surfaces)} surfaces of faces or triangles (multipatch, polyhedral surface, TIN): each face became a polygon.`,
    )
  return notes
}

function features(count: number): string {
  return count === 1 ? '1 feature has' : `${count} features have`
}

function degrees(value: number): string {
  return String(Number(value.toPrecision(2)))
}
