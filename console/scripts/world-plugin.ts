import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, GeometryObject, Topology } from 'topojson-specification'
import type { Plugin } from 'vite'
import { unbroken } from '../src/explorer/map/unbroken.ts'
import { countryNames } from './country-names.ts'
import { placeNames } from './place-names.ts'

const PREFIX = 'virtual:world/'

type Scale = '50m' | '110m'
type Land = Topology<{ land: GeometryCollection }>
type Countries = Topology<{ countries: GeometryCollection }>
type Nested = number[] | Nested[]

const landAt = (scale: Scale) => readAtlas<Land>(`land-${scale}`)
const countriesAt = (scale: Scale) => readAtlas<Countries>(`countries-${scale}`)

/** A file of world-atlas, which `console/scripts/make-world-atlas.ts` has compressed. */
function readAtlas<T>(name: string): T {
  const packed = readFileSync(new URL(`../data/${name}.json.br`, import.meta.url))
  return JSON.parse(brotliDecompressSync(packed).toString())
}

/**
 * The service's own background of maps, made from Natural Earth and GeoNames at build time: no map server is asked. Maps read
 * the files by their addresses, in a worker, so the page never parses them.
 */
export function world(): Plugin {
  let isBuild = true
  return {
    name: 'world',
    configResolved: ({ command }) => {
      isBuild = command === 'build'
    },
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${PREFIX}outline`) {
        return `export default ${JSON.stringify(outlinePath())}`
      }
      if (id !== `\0${PREFIX}urls`) return undefined
      const addressOf = (name: string, value: object) => {
        const source = JSON.stringify(value)
        if (!isBuild) return JSON.stringify(`data:application/json,${encodeURIComponent(source)}`)
        const reference = this.emitFile({ type: 'asset', name: `world-${name}.json`, source })
        return `import.meta.ROLLUP_FILE_URL_${reference}`
      }
      const { cities, towns } = placeNames()
      return `export default {
        coarse: String(${addressOf('coarse', layers('110m'))}),
        fine: String(${addressOf('fine', layers('50m'))}),
        names: String(${addressOf('names', countryNames(countriesAt('50m')))}),
        cities: String(${addressOf('cities', cities)}),
        towns: String(${addressOf('towns', towns)}),
      }`
    },
  }
}

function layers(scale: Scale) {
  const countries = countriesAt(scale)
  const borders = mesh(countries, countries.objects.countries as GeometryObject, (a, b) => a !== b)
  const of = (kind: string, type: string, coordinates: Nested) => ({
    type: 'Feature',
    properties: { kind },
    geometry: { type, coordinates: rounded(coordinates, 2) },
  })
  return {
    type: 'FeatureCollection',
    features: [
      of('land', 'MultiPolygon', landOf(scale)),
      of('borders', 'MultiLineString', borders.coordinates.map(unbroken)),
    ],
  }
}

/** The coasts as one SVG path in degrees, north up, for small previews. */
function outlinePath(): string {
  const rings = (rounded(landOf('110m'), 1) as number[][][][]).flat()
  const path = (ring: number[][], shift: number) =>
    `M${ring.map(([x, y]) => `${Number((x! + shift).toFixed(1))} ${-y!}`).join('L')}Z`
  return rings
    .map((ring) => {
      // What reaches over the date line is drawn on both edges of the world.
      const over = ring.some(([x]) => x! > 180) ? -360 : ring.some(([x]) => x! < -180) ? 360 : 0
      return path(ring, 0) + (over ? path(ring, over) : '')
    })
    .join('')
}

function landOf(scale: Scale): number[][][][] {
  const land = landAt(scale)
  const polygons = feature(land, land.objects.land).features.flatMap(({ geometry }) =>
    geometry.type === 'Polygon'
      ? [geometry.coordinates]
      : geometry.type === 'MultiPolygon'
        ? geometry.coordinates
        : [],
  )
  return polygons.map((rings) => rings.map(unbroken))
}

/** Coordinates of fewer digits; a position that became equal to the one before it goes. */
function rounded(nested: Nested, digits: number): Nested {
  if (typeof nested[0] === 'number') return (nested as number[]).map((value) => Number(value.toFixed(digits)))
  const parts = (nested as Nested[]).map((part) => rounded(part, digits))
  return parts.filter((part, index) => {
    const before = parts[index - 1]
    return typeof part[0] !== 'number' || !before || part[0] !== before[0] || part[1] !== before[1]
  })
}
