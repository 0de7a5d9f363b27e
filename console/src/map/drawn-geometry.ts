import type { Geometry } from '@wayleave/client'
import { unbroken } from './unbroken.ts'

/** A geometry as the map draws it: whole where it reaches over the date line. */
export function drawnGeometry(geometry: Geometry | null): Geometry | null {
  switch (geometry?.type) {
    case 'LineString':
      return { type: 'LineString', coordinates: unbroken(geometry.coordinates as number[][]) }
    case 'MultiLineString':
    case 'Polygon':
      return { type: geometry.type, coordinates: geometry.coordinates.map(unbroken) }
    case 'MultiPolygon':
      return { type: 'MultiPolygon', coordinates: geometry.coordinates.map((rings) => rings.map(unbroken)) }
    default:
      return geometry
  }
}
