import type { ColumnType } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import type { TileContent } from '../encode/tile-content.ts'
import { ownProperties, type SeenProperties } from '../encode/tile-layer.ts'

/** One layer as TileJSON 3.0 and the metadata of PMTiles describe it. */
export interface VectorLayer {
  id: string
  description: string
  minzoom: number
  maxzoom: number
  fields: { [name: string]: string }
}

/** The metadata of an archive of tiles. `contents` tells by zoom what its tiles show and what they leave out. */
export interface TileMetadata {
  name: string
  description: string
  attribution: string
  type: 'overlay'
  version: string
  generator: 'wayleave'
  vector_layers: VectorLayer[]
  /** The number of features with a location. */
  features: number
  contents: TileContent[]
}

export interface TileDescription {
  table: string
  title?: string
  description?: string
  attribution?: string
}

export function vectorLayer(
  { columns, id }: Pick<Manifest, 'columns' | 'id'>,
  { table, description = '' }: TileDescription,
  maxZoom: number,
  seen: SeenProperties,
): VectorLayer {
  const own = ownProperties(columns)
  const fields: { [name: string]: string } = {}
  // As tippecanoe says it.
  const typeOf = (name: string, type: ColumnType) => (seen.longIntegers.has(name) ? 'Mixed' : fieldType(type))
  for (const { name, type } of columns) fields[name] = typeOf(name, type)
  if (seen.hasId) fields[own.id] = typeOf(own.id, id.type)
  fields[own.pointCount] = 'Number'
  fields[own.featureCount] = 'Number'
  return { id: table, description, minzoom: 0, maxzoom: maxZoom, fields }
}

function fieldType(type: ColumnType): string {
  if (type === 'boolean') return 'Boolean'
  return type === 'integer' || type === 'number' ? 'Number' : 'String'
}
