import { readFileSync } from 'node:fs'
import type { Area } from './epsg.ts'

/** A published parametric transformation from a datum to WGS84, from datum-transformations.tsv. */
export interface DatumTransformation {
  /** EPSG's name, such as "MGI to WGS 84 (3)". */
  name: string
  /** In metres, as stated by EPSG; null if it states none. */
  accuracy: number | null
  area: Area
  /** Position vector: 3 translations in metres, optionally 3 rotations in arc-seconds and a scale in ppm. */
  parameters: number[]
  offshore: boolean
}

let rowsByBase: Map<number, DatumTransformation[]> | undefined

function table(): Map<number, DatumTransformation[]> {
  if (rowsByBase) return rowsByBase
  rowsByBase = new Map()
  const file = readFileSync(new URL('./datum-transformations.tsv', import.meta.url), 'utf8')
  for (const line of file.split('\n')) {
    if (!/^\d/.test(line)) continue
    const [base, name, accuracy, area, parameters, offshore] = line.split('\t') as string[]
    const rows = rowsByBase.get(Number(base)) ?? []
    rows.push({
      name: name!,
      accuracy: accuracy === '' ? null : Number(accuracy),
      area: area!.split(' ').map(Number) as Area,
      parameters: parameters === '' ? [] : parameters!.split(',').map(Number),
      offshore: offshore === '1',
    })
    rowsByBase.set(Number(base), rows)
  }
  return rowsByBase
}

/** The transformations of a geographic CRS that apply to some part of the area, in PROJ's order. */
export function transformationsOf(base: number, area: Area | null): DatumTransformation[] {
  const rows = table().get(base) ?? []
  const inArea = area === null ? rows : rows.filter((row) => intersects(row.area, area))
  return inArea.length > 0 ? inArea : rows
}

/** Whether two areas meet; longitudes may be beyond 180°. */
export function intersects(one: Area, other: Area): boolean {
  if (one[1] > other[3] || other[1] > one[3]) return false
  return [-360, 0, 360].some((turn) => one[0] + turn <= other[2] && other[0] <= one[2] + turn)
}

/**
 * The index of the best transformation for a location: the most accurate one whose area contains it, of two
 * equal ones the one with the smaller area, or the first of all if none contains it. PROJ makes the same
 * choice.
 */
export function chooseTransformation(
  rows: readonly DatumTransformation[],
  longitude: number,
  latitude: number,
): number {
  let best = -1
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    if (!contains(row.area, longitude, latitude)) continue
    if (best < 0 || (!row.offshore && isBetter(row, rows[best]!))) best = i
  }
  return Math.max(best, 0)
}

function isBetter(row: DatumTransformation, other: DatumTransformation): boolean {
  const accuracy = row.accuracy ?? Number.POSITIVE_INFINITY
  const otherAccuracy = other.accuracy ?? Number.POSITIVE_INFINITY
  return accuracy < otherAccuracy || (accuracy === otherAccuracy && size(row.area) < size(other.area))
}

function size([west, south, east, north]: Area): number {
  const radians = Math.PI / 180
  return (east - west) * (Math.sin(north * radians) - Math.sin(south * radians))
}

export function contains([west, south, east, north]: Area, longitude: number, latitude: number): boolean {
  if (latitude < south || latitude > north) return false
  return [0, 360, -360].some((turn) => longitude + turn >= west && longitude + turn <= east)
}
