import type { Geometry, Value } from '../../feature.ts'
import { readWkb, wkbSrid } from '../../geometry/wkb.ts'
import { readWkt, wktSrid } from '../../geometry/wkt.ts'
import { SourceError } from '../../source-error.ts'
import { parseJson } from './parse-json.ts'

export type GeometryEncoding = 'wkt' | 'wkb' | 'geojson'

/** The columns of a plain table that contain its geometry: a pair of coordinates or a single column. */
export type CoordinateColumns =
  | { kind: 'pair'; x: number; y: number }
  | { kind: 'geometry'; column: number; encoding: GeometryEncoding }
  | { kind: 'point'; column: number; order: PointOrder }

type ReadGeometry = (row: (Value | undefined)[]) => Geometry | null | string

/** Returns the geometry from a row's columns, or a sentence that says why there is none. */
export function geometryReader(
  columns: CoordinateColumns,
  names: string[],
  crs: string | null,
): ReadGeometry {
  if (columns.kind === 'pair') return pairReader(columns, names)
  const { column } = columns
  if (columns.kind === 'point') return (row) => readPoint(row[column] ?? null, columns.order, names[column]!)
  const { encoding } = columns
  return (row) => {
    const value = row[column] ?? null
    if (value === null || value === '') return null
    try {
      if (encoding === 'geojson') return fromGeojson(value)
      if (typeof value !== 'string') return `${names[column]} is not a geometry`
      const srid = sridOf(value, encoding)
      if (srid && crs !== null && `EPSG:${srid}` !== crs)
        return `the geometry is in EPSG:${srid}, the rows before it in ${crs}`
      return encoding === 'wkt' ? readWkt(value) : readWkb(Buffer.from(value, 'hex'))
    } catch (error) {
      if (error instanceof SourceError) return error.message
      throw error
    }
  }
}

function pairReader({ x, y }: { x: number; y: number }, names: string[]): ReadGeometry {
  return (row) => {
    const east = row[x] ?? ''
    const north = row[y] ?? ''
    if (east === '' && north === '') return null
    const longitude = toNumber(east)
    const latitude = toNumber(north)
    if (longitude === null) return `${names[x]} is ${quote(east)}, which is not a number`
    if (latitude === null) return `${names[y]} is ${quote(north)}, which is not a number`
    return { type: 'Point', coordinates: [longitude, latitude] }
  }
}

/** `52.5, 13.4`, `(52.5, 13.4)`, `[52.5, 13.4]` or `{"lon": 13.4, "lat": 52.5}`. */
const PAIR_TEXT = /^\s*[([]?\s*([+-]?\d+(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d+(?:\.\d+)?)\s*[)\]]?\s*$/

/** The pattern takes long for a long text of spaces, which is not a pair of numbers. */
const MAX_PAIR_LENGTH = 200

export type PointOrder = 'latitude-first' | 'longitude-first'

/** The two numbers of a single value, longitude first; null if it holds none. */
export function pointOf(value: Value, order: PointOrder): [number, number] | null {
  if (typeof value === 'string') {
    const match = value.length <= MAX_PAIR_LENGTH ? PAIR_TEXT.exec(value) : null
    if (match) return inOrder([Number(match[1]), Number(match[2])], order)
    return /^\s*\{/.test(value) ? pointOf(parsed(value), order) : null
  }
  if (Array.isArray(value)) {
    const [first, second] = value
    return typeof first === 'number' && typeof second === 'number' ? inOrder([first, second], order) : null
  }
  if (value === null || typeof value !== 'object') return null
  const longitude = value['lon'] ?? value['lng'] ?? value['longitude'] ?? null
  const latitude = value['lat'] ?? value['latitude'] ?? null
  return typeof longitude === 'number' && typeof latitude === 'number' ? [longitude, latitude] : null
}

function inOrder(pair: [number, number], order: PointOrder): [number, number] {
  return order === 'longitude-first' ? pair : [pair[1], pair[0]]
}

function parsed(text: string): Value {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

function readPoint(value: Value, order: PointOrder, name: string): Geometry | null | string {
  if (value === null || value === '') return null
  const point = pointOf(value, order)
  return point ? { type: 'Point', coordinates: point } : `${name} is ${quote(value)}, which is not a point`
}

const DECIMAL_COMMA = /^[+-]?\d+,\d+$/

export function toNumber(value: Value): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'string') return null
  const number = Number(value)
  if (!Number.isNaN(number)) return number !== 0 || value.trim() !== '' ? number : null
  const text = value.trim()
  return DECIMAL_COMMA.test(text) ? Number(text.replace(',', '.')) : null
}

export function sridOf(text: string, encoding: Exclude<GeometryEncoding, 'geojson'>): number | null {
  return encoding === 'wkt' ? wktSrid(text) : wkbSrid(Buffer.from(text.slice(0, 18), 'hex'))
}

function fromGeojson(value: Value): Geometry | null | string {
  let geometry = value
  if (typeof value === 'string') {
    try {
      geometry = parseJson(value)
    } catch (error) {
      return `the geometry is not valid JSON: ${(error as Error).message}`
    }
  }
  if (geometry === null) return null
  if (typeof geometry !== 'object' || Array.isArray(geometry)) return 'the geometry is not a GeoJSON object'
  return geometry as unknown as Geometry
}

function quote(value: Value): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : 'empty'
  return text.length > 40 ? `${text.slice(0, 40)}…` : text === '""' ? 'empty' : text
}
