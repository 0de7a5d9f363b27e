import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

type Ring = number[][]

/** The rank of a name by the size of its country: smaller ranks are shown from smaller zooms on. */
const RANKS: [countries: number, rank: number][] = [
  [12, 1],
  [40, 2],
  [90, 3],
  [150, 4],
  [Infinity, 5],
]

/** The names of countries as points inside their largest part. */
export function countryNames(countries: Topology<{ countries: GeometryCollection }>) {
  const all = feature(countries, countries.objects.countries).features.flatMap(({ properties, geometry }) => {
    const name = (properties as { name?: string } | null)?.name
    const polygons =
      geometry.type === 'Polygon'
        ? [geometry.coordinates]
        : geometry.type === 'MultiPolygon'
          ? geometry.coordinates
          : []
    const rings = polygons.map(([outer]) => outer as Ring)
    const largest = rings.sort((a, b) => area(b) - area(a))[0]
    return name && largest ? [{ name, at: inside(largest), area: area(largest) }] : []
  })
  all.sort((a, b) => b.area - a.area)
  return {
    type: 'FeatureCollection',
    features: all.map(({ name, at }, index) => ({
      type: 'Feature',
      properties: { name, rank: RANKS.find(([countries]) => index < countries)![1] },
      geometry: { type: 'Point', coordinates: at.map((value) => Number(value.toFixed(2))) },
    })),
  }
}

/** In square degrees at the equator. */
function area(ring: Ring): number {
  let sum = 0
  for (let i = 1; i < ring.length; i++) {
    const [x0, y0] = ring[i - 1] as [number, number]
    const [x1, y1] = ring[i] as [number, number]
    sum += (x1 - x0) * Math.sin((((y0 + y1) / 2) * Math.PI) / 180)
  }
  return Math.abs(sum)
}

/** The middle of the widest stretch of the ring on a latitude near its middle. */
function inside(ring: Ring): number[] {
  const latitudes = ring.map(([, y]) => y!)
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)]
  let best = { width: -1, at: ring[0]! }
  for (const share of [0.4, 0.45, 0.5, 0.55, 0.6]) {
    const latitude = south + (north - south) * share
    const crossings = crossingsAt(ring, latitude)
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const [west, east] = [crossings[i]!, crossings[i + 1]!]
      if (east - west > best.width) best = { width: east - west, at: [(west + east) / 2, latitude] }
    }
  }
  return best.at
}

function crossingsAt(ring: Ring, latitude: number): number[] {
  const crossings: number[] = []
  for (let i = 1; i < ring.length; i++) {
    const [x0, y0] = ring[i - 1] as [number, number]
    const [x1, y1] = ring[i] as [number, number]
    if (y0 > latitude !== y1 > latitude) crossings.push(x0 + ((latitude - y0) / (y1 - y0)) * (x1 - x0))
  }
  return crossings.sort((a, b) => a - b)
}
