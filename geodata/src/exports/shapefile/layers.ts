import { GEOMETRY_TYPES } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { familyOf } from './divide-collection.ts'
import type { Family } from './shp-writer.ts'
import type { Survey } from './survey.ts'

export interface Layer {
  name: string
  family: Family
  /** For points: whether a record may have several. */
  multi: boolean
}

/** One layer per geometry family that occurs. Features without geometry are added to the first layer. */
export function planLayers(table: string, manifest: Manifest, survey: Survey): Layer[] {
  const { points, multiPoints, lines, polygons } = survey
  const families: Family[] = []
  if (points + multiPoints > 0) families.push('point')
  if (lines > 0) families.push('line')
  if (polygons > 0) families.push('polygon')
  if (families.length === 0) families.push(declaredFamily(manifest))
  return families.map((family) => ({
    name: families.length > 1 ? `${table}_${family}` : table,
    family,
    multi: multiPoints > 0,
  }))
}

function declaredFamily({ geometryType }: Manifest): Family {
  if (geometryType === null || geometryType === 'Geometry' || geometryType === 'GeometryCollection')
    return 'point'
  return familyOf(GEOMETRY_TYPES.indexOf(geometryType) + 1)
}
