import type { Geometry, Position } from '../../feature.ts'

/** The kinds of parts of a multipatch (ESRI Shapefile Technical Description, 1998, page 20). */
const TRIANGLE_STRIP = 0
const TRIANGLE_FAN = 1
const OUTER_RING = 2
const INNER_RING = 3
const FIRST_RING = 4
const RING = 5

/**
 * Turns the parts of a multipatch into polygons: each triangle of a strip or fan, and each outer ring with
 * the inner rings that follow it. Returns a sentence if a part is of an unknown kind.
 */
export function polygonsOfPatches(parts: Position[][], kinds: number[]): Geometry | string {
  const polygons: Position[][][] = []
  /** Whether rings may still be added to the last polygon. */
  let isOpen = false
  for (const [i, part] of parts.entries()) {
    const kind = kinds[i]!
    switch (kind) {
      case TRIANGLE_STRIP:
        for (let at = 2; at < part.length; at++)
          polygons.push(triangle(part[at - 2]!, part[at - 1]!, part[at]!))
        isOpen = false
        break
      case TRIANGLE_FAN:
        for (let at = 2; at < part.length; at++) polygons.push(triangle(part[0]!, part[at - 1]!, part[at]!))
        isOpen = false
        break
      case INNER_RING:
        if (isOpen) polygons.at(-1)!.push(part)
        else polygons.push([part])
        break
      // The rings after a first ring are of unknown kind. Faces of a solid are planar and may overlap when
      // seen from above, so they are not taken for holes.
      case OUTER_RING:
      case FIRST_RING:
      case RING:
        polygons.push([part])
        isOpen = kind === OUTER_RING
        break
      default:
        return `the shape is a multipatch with a part of the unknown kind ${kind}`
    }
  }
  return { type: 'MultiPolygon', coordinates: polygons, converted: 'surfaces' }
}

function triangle(a: Position, b: Position, c: Position): Position[][] {
  return [[a, b, c, [...a]]]
}
