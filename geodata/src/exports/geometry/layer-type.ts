import type { GeometryType } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'

export interface LayerType {
  type: GeometryType | 'Geometry' | null
  /** Whether single geometries must be written as multi-geometries with one part. */
  multi: boolean
}

/**
 * The single geometry type of a layer. Polygons in a layer with multi-polygons are written as multi-polygons
 * with one part, because mapping programs prefer layers of one type, and some cannot read others.
 */
export function layerType({ geometryType, geometryTypes }: Manifest): LayerType {
  const kinds = new Set(geometryTypes.map((type) => type.replace('Multi', '')))
  const [kind] = kinds
  if (geometryType !== 'Geometry' || kinds.size !== 1 || kind === 'GeometryCollection') {
    return { type: geometryType, multi: false }
  }
  return { type: `Multi${kind}` as GeometryType, multi: true }
}
