import type { GeometryType } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'

export interface LayerType {
  type: GeometryType | 'Geometry' | null
  /** Whether single shapes are to be written as multi-shapes of one. */
  multi: boolean
}

/**
 * The one type of a layer. Polygons among multi-polygons are written as multi-polygons of one: programs that
 * draw maps want layers of one type, and some cannot read any other.
 */
export function layerType({ geometryType, geometryTypes }: Manifest): LayerType {
  const kinds = new Set(geometryTypes.map((type) => type.replace('Multi', '')))
  const [kind] = kinds
  if (geometryType !== 'Geometry' || kinds.size !== 1 || kind === 'GeometryCollection') {
    return { type: geometryType, multi: false }
  }
  return { type: `Multi${kind}` as GeometryType, multi: true }
}
