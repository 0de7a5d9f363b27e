import type { Column } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import type { TileContent } from '../encode/tile-content.ts'
import { ownProperties } from '../encode/tile-layer.ts'

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
): VectorLayer {
  const own = ownProperties(columns)
  const fields: { [name: string]: string } = {}
  for (const column of columns) fields[column.name] = fieldType(column)
  if (id.type === 'text') fields[own.id] = 'String'
  fields[own.pointCount] = 'Number'
  fields[own.featureCount] = 'Number'
  return { id: table, description, minzoom: 0, maxzoom: maxZoom, fields }
}

function fieldType({ type }: Column): string {
  if (type === 'boolean') return 'Boolean'
  return type === 'integer' || type === 'number' ? 'Number' : 'String'
}
