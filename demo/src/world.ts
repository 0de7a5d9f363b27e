import { createRequire } from 'node:module'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

const require = createRequire(import.meta.url)

type Atlas = Topology<{ land: GeometryCollection; countries?: GeometryCollection<{ name: string }> }>

/** Countries as features whose id is their ISO 3166-1 numeric code, where they have one. */
export function countriesGeojson() {
  const atlas = require('world-atlas/countries-50m.json') as Atlas
  const { features } = feature(atlas, atlas.objects.countries!)
  return {
    type: 'FeatureCollection' as const,
    features: features.map(({ id, properties, geometry }) => ({
      type: 'Feature' as const,
      properties: { name: properties.name, iso_numeric: id === undefined ? null : String(id) },
      geometry,
    })),
  }
}

/** The land of the world, for the background of maps. */
export function landGeojson() {
  const atlas = require('world-atlas/land-110m.json') as Atlas
  return feature(atlas, atlas.objects.land)
}
