import { createRequire } from 'node:module'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, GeometryObject, Topology } from 'topojson-specification'
import type { Plugin } from 'vite'
import { unbroken } from '../src/map/unbroken.ts'

const require = createRequire(import.meta.url)
const PREFIX = 'virtual:world/'

type Scale = '50m' | '110m'
const atlases = {
  '50m': () => ({
    land: require('world-atlas/land-50m.json') as Land,
    countries: require('world-atlas/countries-50m.json') as Countries,
  }),
  '110m': () => ({
    land: require('world-atlas/land-110m.json') as Land,
    countries: require('world-atlas/countries-110m.json') as Countries,
  }),
}

type Land = Topology<{ land: GeometryCollection }>
type Countries = Topology<{ countries: GeometryCollection }>
type Nested = number[] | Nested[]

/** The service's own background of maps, made from Natural Earth at build time: no map server is asked. */
export function world(): Plugin {
  return {
    name: 'world',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return undefined
      const name = id.slice(PREFIX.length + 1)
      const value = name === 'outline' ? outlinePath() : layers(name === 'fine' ? '50m' : '110m')
      return `export default JSON.parse(${JSON.stringify(JSON.stringify(value))})`
    },
  }
}

function layers(scale: Scale) {
  const { countries } = atlases[scale]()
  const borders = mesh(countries, countries.objects.countries as GeometryObject, (a, b) => a !== b)
  return {
    land: { type: 'MultiPolygon', coordinates: rounded(landOf(scale), 2) },
    borders: { type: 'MultiLineString', coordinates: rounded(borders.coordinates.map(unbroken), 2) },
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
  const { land } = atlases[scale]()
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
