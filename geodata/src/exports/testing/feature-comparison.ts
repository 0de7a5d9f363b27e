import assert from 'node:assert/strict'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import type { Column, Geometry, Position } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { cutText, fieldNames } from '../shapefile/fields.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot represent these characters
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

export interface ReadFeature {
  properties: { [name: string]: unknown }
  geometry: Geometry | null
}

/** Parses JSON with integers beyond 2^53 as bigints, so that they are not rounded before comparison. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context!.source!)
      : value,
  )
}

/** The reading program, whose own limits the comparison must allow for. */
export interface Reader {
  name: string
  format: ExportFormat
  /** GDAL prints doubles with 15 digits, and loses quotes in CSV headers and outer spaces in KML text. */
  isGdal: boolean
}

/** Fails unless both have the same features in the same order, within the limits of format and reader. */
export function assertSameFeatures(
  reader: Reader,
  { columns, hasZ, geometryType }: Manifest,
  expected: readonly ReadFeature[],
  actual: readonly ReadFeature[],
): void {
  const { name, format } = reader
  assert.equal(actual.length, expected.length, `${name}: number of features`)
  const names = columns.map((column) => column.name)
  const readNames =
    format === 'shp'
      ? fieldNames(names)
      : names.map((name) => (format === 'csv' && reader.isGdal ? name.replaceAll('"', '') : name))
  // The rows of points only have longitude and latitude.
  const flat = geometryType === 'Point' && (format === 'csv' || format === 'json')
  const dimensions = flat ? 2 : hasZ ? 3 : 2
  expected.forEach((feature, i) => {
    columns.forEach((column, c) => {
      const actualValue = comparable(reader, column, actual[i]!.properties[readNames[c]!])
      const expectedValue = comparable(reader, column, feature.properties[column.name])
      assert.deepEqual(actualValue, expectedValue, `${name}: feature ${i}, ${column.name}`)
    })
    assert.deepEqual(
      comparableShape(actual[i]!.geometry, dimensions, format),
      comparableShape(feature.geometry, dimensions, format),
      `${name}: feature ${i}, geometry`,
    )
  })
}

function comparable({ format, isGdal }: Reader, { type }: Column, value: unknown): unknown {
  if (value === null || value === undefined || (format === 'csv' && value === '')) return null
  switch (type) {
    case 'boolean':
      if (value === '?') return null
      return [true, 1, '1', 'true', 'T', 'True'].includes(value as boolean)
    case 'integer':
      return (format === 'geojson' ? in64Bits(BigInt(value as string)) : BigInt(value as string)).toString()
    case 'number':
      return isGdal ? Number(Number(value).toPrecision(14)) : Number(value)
    case 'date':
      return String(value).replaceAll('/', '-').slice(0, 10)
    case 'timestamp':
      return milliseconds(String(value))
    case 'json':
      return jsonText(format, value)
    case 'text':
      return text(format, format === 'kml' && isGdal ? String(value).trim() : String(value))
  }
}

/** Clamps to 64 bits, as GDAL does when it reads integers from GeoJSON. */
function in64Bits(value: bigint): bigint {
  const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n]
  return value < least ? least : value > greatest ? greatest : value
}

function milliseconds(time: string): number {
  const iso = time
    .replaceAll('/', '-')
    .replace(' ', 'T')
    .replace(/([+-]\d\d)$/, '$1:00')
  return Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`)
}

function jsonText(format: ExportFormat, value: unknown): unknown {
  return format === 'shp' ? text(format, asJson(value)) : JSON.parse(asJson(value))
}

function asJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The part of a text that the format can represent. */
function text(format: ExportFormat, value: string): string | null {
  if (format === 'shp') return cutText(value, 254).trim() || null
  // A CSV reader cannot distinguish null from an empty text, unless it checks for quotes.
  if (format === 'csv') return value.replaceAll('\r\n', '\n') || null
  if (format === 'kml') return value.replace(NOT_IN_XML, '\ufffd')
  return value
}

/**
 * Normalises what formats may choose freely: a multi-geometry with one part becomes that part, a collection
 * of one kind becomes a multi-geometry, rings start at their smallest point and have one winding, and an
 * empty geometry becomes null.
 */
function comparableShape(geometry: Geometry | null, dimensions: number, format: ExportFormat): unknown {
  if (!geometry) return null
  let parts = leaves(geometry, dimensions).filter((part) => part.coordinates.length > 0)
  if (format === 'shp')
    parts = parts.filter(({ type, coordinates }) => type !== 'Polygon' || hasArea(coordinates))
  return parts.length === 0 ? null : parts
}

function hasArea(rings: unknown[]): boolean {
  return new Set((rings[0] as Position[]).map(String)).size > 2
}

interface Leaf {
  type: string
  coordinates: unknown[]
}

function leaves(geometry: Geometry, dimensions: number): Leaf[] {
  const position = (numbers: Position) => [...numbers, 0].slice(0, Math.min(dimensions, numbers.length + 1))
  const line = (positions: Position[]): Leaf => ({ type: 'LineString', coordinates: positions.map(position) })
  const point = (numbers: Position): Leaf => ({
    type: 'Point',
    coordinates: numbers.length > 0 ? position(numbers) : [],
  })
  const polygon = (rings: Position[][]): Leaf => ({
    type: 'Polygon',
    coordinates: rings.map((positions) => ring(positions.map(position))),
  })
  switch (geometry.type) {
    case 'GeometryCollection':
      return geometry.geometries.flatMap((member) => leaves(member, dimensions))
    case 'Point':
      return [point(geometry.coordinates)]
    case 'MultiPoint':
      return geometry.coordinates.map(point)
    case 'LineString':
      return [line(geometry.coordinates)]
    case 'MultiLineString':
      return geometry.coordinates.map(line)
    case 'Polygon':
      return [polygon(geometry.coordinates)]
    case 'MultiPolygon':
      return geometry.coordinates.map(polygon)
  }
}

function ring(positions: Position[]): Position[] {
  const open = positions.slice(0, -1)
  const rotated = (list: Position[]) => {
    const texts = list.map(String)
    const first = texts.indexOf(texts.toSorted()[0]!)
    return [...list.slice(first), ...list.slice(0, first)]
  }
  const [one, other] = [rotated(open), rotated(open.toReversed())]
  return String(one) < String(other) ? one : other
}
