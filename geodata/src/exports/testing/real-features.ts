import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Geometry } from '../../feature.ts'
import { realCities, realEarthquakes, realTownships } from '../../testing/real-data.ts'
import type { FixtureFeature } from './compiled-fixture.ts'

const MODULES = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules')
const load = (path: string) => createRequire(import.meta.url)(join(MODULES, path))

/** Real data of each kind, thinned out so that many programs can read it quickly. */
export const REAL_FEATURES = {
  cities: (): FixtureFeature[] =>
    realCities(300).map(({ name, lat, lng, country }) => ({
      geometry: { type: 'Point', coordinates: [Number(lng), Number(lat)] },
      properties: { name, country },
    })),
  countries: (): FixtureFeature[] => {
    const atlas = load('world-atlas/countries-110m.json')
    const { feature } = load('topojson-client') as {
      feature: (topology: object, object: object) => Collection
    }
    const { features } = feature(atlas, atlas.objects.countries)
    // A ring of Fiji spans the whole world and so intersects itself, which readers interpret differently.
    return features
      .filter(({ properties }) => properties['name'] !== 'Fiji')
      .map(({ geometry, properties }) => ({ geometry, properties: { name: properties['name']! } }))
  },
  earthquakes: (): FixtureFeature[] =>
    realEarthquakes<Collection>()
      .features.filter((_, i) => i % 10 === 0)
      .map(({ geometry, properties }) => ({ geometry, properties })),
  townships: (): FixtureFeature[] =>
    realTownships(500).map(({ code, name }, i) => ({ properties: { code, name, number: i } })),
}

interface Collection {
  features: { geometry: Geometry; properties: FixtureFeature['properties'] }[]
}
