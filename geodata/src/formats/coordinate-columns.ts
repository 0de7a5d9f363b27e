import type { Geometry, Value } from '../feature.ts'
import { readWkb, wkbSrid } from '../geometry/wkb.ts'
import { readWkt, wktSrid } from '../geometry/wkt.ts'
import { SourceError } from '../source-error.ts'
import { parseJson } from './json/parse-json.ts'

/** The columns of a plain table that contain its geometry: a pair of coordinates or a single column. */
export type CoordinateColumns =
  | { kind: 'pair'; x: number; y: number }
  | { kind: 'geometry'; column: number; encoding: 'wkt' | 'wkb' | 'geojson' }

const LONGITUDES = [
  'longitude',
  'lon',
  'lng',
  'long',
  'decimallongitude',
  'longitudedeg',
  'londd',
  'geolon',
  'geolng',
]
const LATITUDES = ['latitude', 'lat', 'decimallatitude', 'latitudedeg', 'latdd', 'geolat']
/** Names that do not imply degrees; only used if the values look like degrees or a CRS is given. */
const PAIRS: [x: string, y: string][] = [
  ['x', 'y'],
  ['pointx', 'pointy'],
  ['xcoord', 'ycoord'],
  ['coordx', 'coordy'],
  ['xcoordinate', 'ycoordinate'],
  ['easting', 'northing'],
]
const GEOMETRIES = [
  'wkt',
  'geometry',
  'geom',
  'thegeom',
  'wkbgeometry',
  'wktgeometry',
  'shape',
  'geojson',
  'ewkt',
  'wkt_geom',
  'geomwkt',
]

function comparable(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]/g, '')
}

export interface FoundColumns {
  columns: CoordinateColumns | null
  /** The CRS that the values state or imply. */
  crs: string | null
  notes: string[]
}

/**
 * Finds the columns by their usual names, if the first rows confirm them. `crsGiven`: the publisher chose a
 * CRS, so coordinates need not look like degrees.
 */
export function findCoordinateColumns(names: string[], sample: Value[][], crsGiven: boolean): FoundColumns {
  const plain = names.map(comparable)
  const at = (column: number) =>
    sample.map((row) => row[column] ?? null).filter((value) => value !== null && value !== '')
  for (const name of GEOMETRIES) {
    const column = plain.indexOf(comparable(name))
    if (column < 0) continue
    const values = at(column)
    const encoding = encodingOf(values[0])
    if (encoding)
      return {
        columns: { kind: 'geometry', column, encoding },
        crs: statedCrs(values[0]!, encoding),
        notes: [],
      }
  }
  const notes: string[] = []
  const first = (candidates: string[]) =>
    candidates.map((name) => plain.indexOf(name)).find((column) => column >= 0) ?? -1
  const degrees = { x: first(LONGITUDES), y: first(LATITUDES) }
  if (degrees.x >= 0 && degrees.y >= 0) {
    if (areNumeric(at(degrees.x)) && areNumeric(at(degrees.y)))
      return { columns: { kind: 'pair', ...degrees }, crs: 'OGC:CRS84', notes }
    notes.push(
      `Columns ${names[degrees.x]} and ${names[degrees.y]} are not taken for coordinates: too few of their values are decimal degrees.`,
    )
  }
  for (const [xName, yName] of PAIRS) {
    const x = plain.indexOf(xName)
    const y = plain.indexOf(yName)
    if (x < 0 || y < 0 || !areNumeric(at(x)) || !areNumeric(at(y))) continue
    if (crsGiven || (areWithin(at(x), 180) && areWithin(at(y), 90)))
      return { columns: { kind: 'pair', x, y }, crs: 'OGC:CRS84', notes }
    notes.push(
      `Columns ${names[x]} and ${names[y]} hold numbers that are not degrees. If they are coordinates, name their CRS with --crs.`,
    )
  }
  return { columns: null, crs: null, notes }
}

function encodingOf(value: Value | undefined): 'wkt' | 'wkb' | 'geojson' | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'object')
    return !Array.isArray(value) && typeof value['type'] === 'string' ? 'geojson' : null
  if (typeof value !== 'string') return null
  if (/^\s*\{\s*"/.test(value)) return 'geojson'
  if (
    /^\s*(SRID\s*=\s*\d+\s*;)?\s*(MULTI)?(POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION|CIRCULARSTRING|COMPOUNDCURVE|CURVE|SURFACE|POLYHEDRALSURFACE|TIN\b|TRIANGLE)/i.test(
      value,
    )
  )
    return 'wkt'
  return /^(00|01)[0-9a-f]{8,}$/i.test(value) && value.length % 2 === 0 ? 'wkb' : null
}

function statedCrs(value: Value, encoding: 'wkt' | 'wkb' | 'geojson'): string | null {
  if (encoding === 'geojson') return 'OGC:CRS84'
  const srid = sridOf(value as string, encoding)
  return srid ? `EPSG:${srid}` : null
}

function sridOf(text: string, encoding: 'wkt' | 'wkb'): number | null {
  return encoding === 'wkt' ? wktSrid(text) : wkbSrid(Buffer.from(text.slice(0, 18), 'hex'))
}

/** A few stray texts in a column of numbers are problems of their rows, and do not make it a text column. */
function areNumeric(values: Value[]): boolean {
  const numeric = values.filter((value) => toNumber(value) !== null).length
  return numeric > 0 && numeric >= values.length * 0.8
}

function areWithin(values: Value[], limit: number): boolean {
  return values.every((value) => Math.abs(toNumber(value) ?? 0) <= limit)
}

const DECIMAL_COMMA = /^[+-]?\d+,\d+$/

function toNumber(value: Value): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return null
  const number = Number(value)
  if (!Number.isNaN(number)) return number !== 0 || value.trim() !== '' ? number : null
  const text = value.trim()
  return DECIMAL_COMMA.test(text) ? Number(text.replace(',', '.')) : null
}

/** Returns the geometry from a row's columns, or a sentence that says why there is none. */
export function geometryReader(
  columns: CoordinateColumns,
  names: string[],
  crs: string | null,
): (row: (Value | undefined)[]) => Geometry | null | string {
  if (columns.kind === 'pair') {
    const { x, y } = columns
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
  const { column, encoding } = columns
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

function fromGeojson(value: Value): Geometry | null | string {
  let parsed = value
  if (typeof value === 'string') {
    try {
      parsed = parseJson(value)
    } catch (error) {
      return `the geometry is not valid JSON: ${(error as Error).message}`
    }
  }
  if (parsed === null) return null
  if (typeof parsed !== 'object' || Array.isArray(parsed)) return 'the geometry is not a GeoJSON object'
  return parsed as unknown as Geometry
}

function quote(value: Value): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : 'empty'
  return text.length > 40 ? `${text.slice(0, 40)}…` : text === '""' ? 'empty' : text
}

/** The indexes of the other columns, which are kept as values. */
export function otherColumns(count: number, columns: CoordinateColumns | null): number[] {
  const used = columns === null ? [] : columns.kind === 'pair' ? [columns.x, columns.y] : [columns.column]
  return Array.from({ length: count }, (_, i) => i).filter((i) => !used.includes(i))
}
