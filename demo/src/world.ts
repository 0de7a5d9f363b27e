import type { Geometry } from '@wayleave/geodata/geometry'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { cutAtAntimeridian } from './cut-at-antimeridian.ts'
import { demoData } from './demo-data.ts'

type Atlas = Topology<{ land: GeometryCollection; countries?: GeometryCollection<{ name: string }> }>

/**
 * Countries with their ISO 3166-1 numeric code, if they have one, from TopoJSON as world-atlas has it. Without
 * `text`, they are those of the demo.
 */
export function countriesGeojson(text = demoData('countries-50m.json').toString()) {
  const atlas = JSON.parse(text) as Atlas
  const { features } = feature(atlas, atlas.objects.countries!)
  return {
    type: 'FeatureCollection' as const,
    features: features.map(({ id, properties, geometry }) => ({
      type: 'Feature' as const,
      properties: { name: properties.name, iso_numeric: id === undefined ? null : String(id) },
      geometry: cut(geometry as Geometry),
    })),
  }
}

function cut(geometry: Geometry) {
  if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return geometry
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const pieces = polygons.flatMap(cutAtAntimeridian)
  return pieces.length === 1
    ? { type: 'Polygon' as const, coordinates: pieces[0]! }
    : { type: 'MultiPolygon' as const, coordinates: pieces }
}
