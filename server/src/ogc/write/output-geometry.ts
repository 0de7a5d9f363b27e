import { clipLatitudes, type Geometry, mapPositions, type Position } from '@wayleave/geodata/geometry'
import type { Crs } from '../request/crs-list.ts'

/**
 * Transforms a geometry to another CRS, in that CRS's axis order. In Web Mercator it is cut at the CRS's
 * northern and southern edges. Null if the CRS cannot represent it.
 */
export function outputGeometry(
  geometry: Geometry,
  { fromWgs84, northingFirst, maxLatitude }: Crs,
): Geometry | null {
  let hasPlace = true
  const inDomain = maxLatitude === null ? geometry : clipLatitudes(geometry, maxLatitude)
  const moved = mapPositions(inDomain, (position) => {
    const there = fromWgs84 === null ? position : fromWgs84(position)
    if (!Number.isFinite(there[0]) || !Number.isFinite(there[1])) hasPlace = false
    return northingFirst ? swapped(there) : there
  })
  return hasPlace ? moved : null
}

function swapped([first, second, ...heights]: Position): Position {
  return [second!, first!, ...heights]
}
