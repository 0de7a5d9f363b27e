import type { Geometry } from '@wayleave/geodata/geometry'

/** A small seeded random number generator, so that failures are reproducible. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

export interface Place {
  type: 'Feature'
  geometry: Geometry | null
  properties: {
    i: number
    name: string | null
    size: number | null
    big: bigint | number
    open: boolean | null
    day: string | null
    at: string | null
  }
}

const NAMES = [
  'Ärmel',
  'armel',
  'Bay',
  "O'Brien",
  'a"b',
  "'; DROP TABLE t; --",
  '東京',
  '',
  '100%',
  'x_y',
  null,
]

/** Features with geometries of all types, some without one, with repeated and missing values. */
export function randomPlaces(count: number, seed: number, shapes = true): Place[] {
  const random = numbers(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  return Array.from({ length: count }, (_, i) => ({
    type: 'Feature',
    geometry: shapes ? randomGeometry(random) : pointOrNone(random),
    properties: {
      i,
      name: pick(NAMES),
      size: random() < 0.15 ? null : Math.round(random() * 20) / 4,
      big: random() < 0.2 ? 9007199254740993n + BigInt(i) : i % 7,
      open: pick([true, false, null]),
      day: random() < 0.1 ? null : `2020-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 9)}`,
      at: random() < 0.1 ? null : `2021-05-01T0${Math.floor(random() * 9)}:00:00Z`,
    },
  }))
}

function pointOrNone(random: () => number): Geometry | null {
  return random() < 0.05 ? null : { type: 'Point', coordinates: position(random) }
}

function position(random: () => number): number[] {
  return [Math.round(random() * 330 - 165), Math.round(random() * 160 - 80)]
}

function randomGeometry(random: () => number): Geometry | null {
  const [x, y] = position(random) as [number, number]
  const near = () => [x + Math.round(random() * 16 - 8) / 2, y + Math.round(random() * 16 - 8) / 2]
  const ring = (r: number) => [
    [x - r, y],
    [x, y - r],
    [x + r, y],
    [x, y + r],
    [x - r, y],
  ]
  const hole = (r: number) => ring(r).reverse()
  switch (Math.floor(random() * 8)) {
    case 0:
      return null
    case 1:
      return { type: 'LineString', coordinates: [near(), near(), near()] }
    case 2:
      return { type: 'Polygon', coordinates: [ring(6)] }
    case 3:
      return { type: 'Polygon', coordinates: [ring(8), hole(5)] }
    case 4:
      return { type: 'MultiPoint', coordinates: [near(), near()] }
    case 5:
      return {
        type: 'MultiPolygon',
        coordinates: [[ring(3)], [ring(2).map(([a, b]) => [a! + 10, b!])]],
      }
    case 6:
      return {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: near() },
          { type: 'LineString', coordinates: [near(), near()] },
        ],
      }
    default:
      return { type: 'Point', coordinates: [x, y] }
  }
}

/** GeoJSON text in which integers of any size are written exactly. */
export function geojsonText(features: readonly object[]): string {
  const text = JSON.stringify({ type: 'FeatureCollection', features }, (_key, value: unknown) =>
    typeof value === 'bigint' ? `integer:${value}` : value,
  )
  return text.replace(/"integer:(\d+)"/g, '$1')
}
