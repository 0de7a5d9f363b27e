import type { Geometry } from '@wayleave/client'
import { unbroken } from './unbroken.ts'

/** A geometry for drawing: unwrapped if it crosses the antimeridian. */
export function drawnGeometry(geometry: Geometry | null): Geometry | null {
  switch (geometry?.type) {
    case 'LineString':
      return { type: 'LineString', coordinates: unbroken(geometry.coordinates as number[][]) }
    case 'MultiLineString':
    case 'Polygon':
      return { type: geometry.type, coordinates: geometry.coordinates.map(unbroken) }
    case 'MultiPolygon':
      return { type: 'MultiPolygon', coordinates: geometry.coordinates.map((rings) => rings.map(unbroken)) }
    case 'Point':
    case 'MultiPoint':
    case 'GeometryCollection':
    case undefined:
      return geometry
  }
}
