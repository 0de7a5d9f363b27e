import { type Geometry, type GeometryType, isDay, type Position } from '@wayleave/geodata/geometry'
import type { Limits } from '../ast.ts'
import { Cql2Error } from '../cql2-error.ts'

/** All integers of so many digits are within the range of DuckDB's largest type. */
const MAX_DIGITS = 38
const TOO_LARGE = 10n ** BigInt(MAX_DIGITS)

function tooManyDigits(at: string): Cql2Error {
  return new Cql2Error(`The integer ${at} has more than ${MAX_DIGITS} digits.`)
}

export function boundedInteger(value: bigint, at: string): bigint {
  if (value >= TOO_LARGE || value <= -TOO_LARGE) throw tooManyDigits(at)
  return value
}

/** A number literal. Integers of up to 38 digits are exact. */
export function numberValue(digits: string, at: string): number | bigint {
  if (/^-?\d+$/.test(digits)) {
    const value = Number(digits)
    if (Number.isSafeInteger(value)) return value + 0
    if (digits.replace(/^-?0*/, '').length > MAX_DIGITS) throw tooManyDigits(at)
    return BigInt(digits)
  }
  const value = Number(digits)
  if (!Number.isFinite(value)) throw new Cql2Error(`The number ${at} is too large.`)
  return value
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6})0*)?([Zz]|[+-]\d{2}:\d{2})$/

export function isDate(text: string): boolean {
  const parts = DATE.exec(text)
  return parts !== null && isDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))
}

export function dateValue(text: string, at: string): string {
  if (!isDate(text)) throw new Cql2Error(`The date ${at} is not a day of the form 2025-12-31.`)
  return text
}

/** In UTC, without the trailing Z, with a fraction only if it is not zero: such strings sort by time. */
export function timestampValue(text: string, at: string): string {
  const value = parseTimestamp(text)
  if (value === null) {
    throw new Cql2Error(
      `The timestamp ${at} is not of the form 2025-12-31T23:59:59Z, with at most six digits of a second.`,
    )
  }
  return value
}

export function parseTimestamp(text: string): string | null {
  const parts = TIMESTAMP.exec(text)
  if (parts === null) return null
  const [, day, hour, minute, second, fraction = '', zone] = parts
  const digits = fraction.replace(/0+$/, '')
  if (!isDate(day!)) return null
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const local = `${day}T${hour}:${minute}:${second}`
  const utc = zone!.toUpperCase() === 'Z' ? local : shifted(local, zone!)
  if (utc === null) return null
  return digits === '' ? utc : `${utc}.${digits}`
}

function shifted(local: string, zone: string): string | null {
  const [hours, minutes] = zone.slice(1).split(':').map(Number) as [number, number]
  if (hours > 23 || minutes > 59) return null
  const offset = (hours * 60 + minutes) * (zone.startsWith('-') ? -60_000 : 60_000)
  const utc = new Date(Date.parse(`${local}Z`) - offset).toISOString()
  return /^\d{4}-/.test(utc) && !utc.startsWith('0000') ? utc.slice(0, 19) : null
}

const DEPTHS: Partial<Record<GeometryType, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}

export function tooManyPositions({ positions }: Limits): Cql2Error {
  return new Cql2Error(`The geometries of the filter have more than ${positions} positions.`)
}

/** Rejects lines with one position and rings that are not closed. Heights are allowed and never compared. */
export function checkedGeometry(geometry: Geometry, at: string, countPosition = () => {}): Geometry {
  if (geometry.type === 'GeometryCollection') {
    for (const member of geometry.geometries) checkedGeometry(member, at)
    return geometry
  }
  const isEmptyPoint = geometry.type === 'Point' && geometry.coordinates?.length === 0
  if (!isEmptyPoint) checkPositions(geometry.coordinates, DEPTHS[geometry.type]!, at, countPosition)
  if (geometry.type === 'LineString') checkLine(geometry.coordinates, at)
  if (geometry.type === 'MultiLineString') for (const line of geometry.coordinates) checkLine(line, at)
  if (geometry.type === 'Polygon') for (const ring of geometry.coordinates) checkRing(ring, at)
  if (geometry.type === 'MultiPolygon') {
    for (const rings of geometry.coordinates) for (const ring of rings) checkRing(ring, at)
  }
  return geometry
}

function checkPositions(coordinates: unknown, depth: number, at: string, countPosition: () => void): void {
  if (!Array.isArray(coordinates)) throw new Cql2Error(`The geometry ${at} lacks an array of coordinates.`)
  if (depth > 0) {
    for (const member of coordinates) checkPositions(member, depth - 1, at, countPosition)
    return
  }
  countPosition()
  const isPosition =
    (coordinates.length === 2 || coordinates.length === 3) && coordinates.every(Number.isFinite)
  if (!isPosition) throw new Cql2Error(`A position of the geometry ${at} is not two or three numbers.`)
}

function checkLine(line: Position[], at: string): void {
  if (line.length === 1) throw new Cql2Error(`A line of the geometry ${at} has only one position.`)
}

function checkRing(ring: Position[], at: string): void {
  const first = ring[0]
  const last = ring.at(-1)
  if (ring.length < 4 || first![0] !== last![0] || first![1] !== last![1]) {
    throw new Cql2Error(
      `A ring of the geometry ${at} is not at least four positions of which the last repeats the first.`,
    )
  }
}

export function checkedBounds(bounds: number[], at: string): number[] {
  if ((bounds.length !== 4 && bounds.length !== 6) || !bounds.every(Number.isFinite)) {
    throw new Cql2Error(`The box ${at} is not four numbers (west, south, east, north) or six with heights.`)
  }
  const half = bounds.length / 2
  if (bounds[1]! > bounds[half + 1]!) throw new Cql2Error(`The south of the box ${at} is above its north.`)
  return bounds
}

/**
 * The area of a box of four or six numbers. A box whose west is greater than its east crosses the
 * antimeridian.
 */
export function boxGeometry(bounds: number[]): Geometry {
  const half = bounds.length / 2
  const [west, south, east, north] = [bounds[0]!, bounds[1]!, bounds[half]!, bounds[half + 1]!]
  if (west <= east) return rectangle(west, south, east, north)
  const parts = [rectangle(west, south, 180, north), rectangle(-180, south, east, north)]
  const rings = parts.flatMap((part) => (part.type === 'Polygon' ? [part.coordinates] : []))
  return rings.length === 2
    ? { type: 'MultiPolygon', coordinates: rings }
    : { type: 'GeometryCollection', geometries: parts }
}

/** A box of zero width or height becomes a line or a point. */
function rectangle(west: number, south: number, east: number, north: number): Geometry {
  if (west === east && south === north) return { type: 'Point', coordinates: [west, south] }
  if (west === east || south === north) {
    return {
      type: 'LineString',
      coordinates: [
        [west, south],
        [east, north],
      ],
    }
  }
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}
