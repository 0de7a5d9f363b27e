import type { Conversion } from '../feature.ts'

/** How many features of a source have geometries that were changed for publishing, for the report. */
export interface GeometryChanges {
  /** Features with coordinates slightly outside the world, and the largest excess in degrees. */
  clamped: number
  maxExcess: number
  /** Features whose curves became lines, and features whose surfaces became polygons. */
  curves: number
  surfaces: number
}

export function noChanges(): GeometryChanges {
  return { clamped: 0, maxExcess: 0, curves: 0, surfaces: 0 }
}

export function joinChanges(into: GeometryChanges, other: GeometryChanges): void {
  into.clamped += other.clamped
  into.maxExcess = Math.max(into.maxExcess, other.maxExcess)
  into.curves += other.curves
  into.surfaces += other.surfaces
}

/** Counts one feature. */
export function countConversion(changes: GeometryChanges, conversion: Conversion): void {
  if (conversion === 'curves') changes.curves++
  else if (conversion === 'surfaces') changes.surfaces++
}

/** Sentences for the publisher's report. */
export function describeChanges({ clamped, maxExcess, curves, surfaces }: GeometryChanges): string[] {
  const notes: string[] = []
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
