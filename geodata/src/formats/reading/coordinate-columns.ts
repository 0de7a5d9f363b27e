import type { Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import {
  comparableName,
  GEOMETRY_NAMES,
  latitudeIndex,
  longitudeIndex,
  PLANE_PAIRS,
  POINT_NAMES,
  sizeNamedPair,
} from './coordinate-names.ts'
import {
  type CoordinateColumns,
  type GeometryEncoding,
  pointOf,
  sridOf,
  toNumber,
} from './coordinate-reader.ts'
import { type CoordinateChoice, ifItFits } from './read-options.ts'

export interface FoundColumns {
  columns: CoordinateColumns | null
  /** The CRS that the values state or imply. */
  crs: string | null
  notes: string[]
}

const NOTHING: FoundColumns = { columns: null, crs: null, notes: [] }

/**
 * Finds the columns that the publisher named, otherwise those with usual names, if the first rows confirm
 * them. If the publisher chose a CRS, coordinates need not look like degrees.
 */
export function findCoordinateColumns(
  names: string[],
  sample: Value[][],
  choice: CoordinateChoice & { crs?: string; file: string },
): FoundColumns {
  const table = new SampledTable(names, sample)
  if (choice.geometry === false) return NOTHING
  const hasNamed = choice.longitude !== undefined || choice.latitude !== undefined
  if (hasNamed || choice.geometryColumn !== undefined) {
    const named = ifItFits('coordinates', choice, table.notes, () => namedColumns(table, choice))
    if (named) return named
  }
  const coordinates =
    geometryByName(table) ??
    degreesByName(table, choice.file) ??
    degreesBySize(table) ??
    geometryByContent(table) ??
    pointByName(table) ??
    planePair(table, choice.crs !== undefined)
  return coordinates ?? { ...NOTHING, notes: table.notes }
}

/** The columns of a table with the values of its first rows. */
class SampledTable {
  readonly names: string[]
  readonly comparable: string[]
  readonly notes: string[] = []
  readonly #sample: Value[][]

  constructor(names: string[], sample: Value[][]) {
    this.names = names
    this.comparable = names.map(comparableName)
    this.#sample = sample
  }

  /** The sampled values that are not empty. */
  values(column: number): Value[] {
    return this.#sample.map((row) => row[column] ?? null).filter((value) => value !== null && value !== '')
  }

  /** The index of a column that the publisher named. */
  indexOf(name: string, file: string): number {
    const exact = this.names.indexOf(name)
    if (exact >= 0) return exact
    const similar = this.names.findIndex((each) => each.toLowerCase() === name.toLowerCase())
    if (similar >= 0) return similar
    throw new SourceError(
      `${file} has no column ${JSON.stringify(name)}. It has ${this.names.slice(0, 20).join(', ')}.`,
    )
  }

  found(columns: CoordinateColumns, crs: string | null): FoundColumns {
    return { columns, crs, notes: [...this.notes, usedNote(columns, this.names)] }
  }
}

function usedNote(columns: CoordinateColumns, names: string[]): string {
  if (columns.kind === 'pair')
    return `Columns ${names[columns.x]} (longitude or x) and ${names[columns.y]} (latitude or y) became the coordinates. To keep them as columns of a table, publish with --no-geometry.`
  return `Column ${names[columns.column]} became the geometry. To keep it as a column of a table, publish with --no-geometry.`
}

function namedColumns(
  table: SampledTable,
  { longitude, latitude, geometryColumn, file }: CoordinateChoice & { file: string },
): FoundColumns {
  if (geometryColumn !== undefined) {
    const column = table.indexOf(geometryColumn, file)
    const [first] = table.values(column)
    const encoding = encodingOf(first)
    if (encoding) return table.found({ kind: 'geometry', column, encoding }, statedCrs(first!, encoding))
    const order = POINT_NAMES.get(table.comparable[column]!) ?? 'latitude-first'
    if (first !== undefined && pointOf(first, order))
      return table.found({ kind: 'point', column, order }, 'OGC:CRS84')
    throw new SourceError(
      `${file}: column ${table.names[column]} holds neither WKT, WKB, GeoJSON nor points.`,
    )
  }
  if (longitude === undefined || latitude === undefined)
    throw new SourceError('--longitude and --latitude are given together: each names a column.')
  const [x, y] = [table.indexOf(longitude, file), table.indexOf(latitude, file)]
  if (x === y) throw new SourceError('--longitude and --latitude name the same column.')
  return table.found({ kind: 'pair', x, y }, 'OGC:CRS84')
}

function geometryByName(table: SampledTable): FoundColumns | null {
  for (const name of GEOMETRY_NAMES) {
    const column = table.comparable.indexOf(name)
    const [first] = column < 0 ? [] : table.values(column)
    const encoding = encodingOf(first)
    if (encoding) return table.found({ kind: 'geometry', column, encoding }, statedCrs(first!, encoding))
  }
  return null
}

/** A column of any name in which every sampled value is WKT. */
function geometryByContent(table: SampledTable): FoundColumns | null {
  for (const column of table.names.keys()) {
    const values = table.values(column)
    if (values.length > 0 && values.every((value) => encodingOf(value) === 'wkt'))
      return table.found({ kind: 'geometry', column, encoding: 'wkt' }, statedCrs(values[0]!, 'wkt'))
  }
  return null
}

function degreesByName(table: SampledTable, file: string): FoundColumns | null {
  const x = longitudeIndex(table.comparable)
  const y = latitudeIndex(table.comparable)
  if (x < 0 || y < 0) return null
  const [longitudes, latitudes] = [table.values(x), table.values(y)]
  if (!areNumeric(longitudes) || !areNumeric(latitudes)) {
    table.notes.push(
      `Columns ${table.names[x]} and ${table.names[y]} are not taken for coordinates: too few of their values are decimal degrees.`,
    )
    return null
  }
  const beyondPoles = latitudes.filter((value) => Math.abs(toNumber(value) ?? 0) > 90)
  if (beyondPoles.length * 2 > latitudes.length && areWithin(longitudes, 90) && areWithin(latitudes, 180))
    throw new SourceError(
      `${file}: most values of ${table.names[y]} are beyond 90°, and those of ${table.names[x]} are not. The two seem to be swapped; if so, publish with --longitude ${table.names[y]} --latitude ${table.names[x]}.`,
    )
  return table.found({ kind: 'pair', x, y }, 'OGC:CRS84')
}

/** Columns whose names mean longitude and latitude or length and width, as in German. */
function degreesBySize(table: SampledTable): FoundColumns | null {
  const [x, y] = sizeNamedPair(table.comparable) ?? []
  if (x === undefined || y === undefined) return null
  const [xs, ys] = [table.values(x), table.values(y)]
  if (!areNumeric(xs) || !areNumeric(ys) || !areWithin(xs, 180) || !areWithin(ys, 90)) return null
  if (arePrecise(xs) && arePrecise(ys)) return table.found({ kind: 'pair', x, y }, 'OGC:CRS84')
  table.notes.push(keptNote(table.names[x]!, table.names[y]!))
  return null
}

function keptNote(xColumn: string, yColumn: string): string {
  return `Columns ${xColumn} and ${yColumn} are kept as columns. If they are degrees, publish with --longitude ${xColumn} --latitude ${yColumn}.`
}

function pointByName(table: SampledTable): FoundColumns | null {
  for (const [name, order] of POINT_NAMES) {
    const column = table.comparable.indexOf(name)
    const values = column < 0 ? [] : table.values(column)
    if (values.length > 0 && values.every((value) => pointOf(value, order) !== null))
      return table.found({ kind: 'point', column, order }, 'OGC:CRS84')
  }
  return null
}

/**
 * Numbers under names like `x` need evidence: a CRS from the publisher, or degrees. Bare `x` and `y` are so common
 * for other quantities that they must also look as GDAL and QGIS write points: see `isGdalPair`.
 */
function planePair(table: SampledTable, crsGiven: boolean): FoundColumns | null {
  for (const [xName, yName] of [...PLANE_PAIRS, ['x', 'y']] as const) {
    const x = table.comparable.indexOf(xName)
    const y = table.comparable.indexOf(yName)
    if (x < 0 || y < 0) continue
    const [xs, ys] = [table.values(x), table.values(y)]
    if (!areNumeric(xs) || !areNumeric(ys)) continue
    const areDegrees = areWithin(xs, 180) && areWithin(ys, 90)
    if (crsGiven || (areDegrees && (xName !== 'x' || isGdalPair(table, xs, ys))))
      return table.found({ kind: 'pair', x, y }, 'OGC:CRS84')
    const [xColumn, yColumn] = [table.names[x], table.names[y]]
    table.notes.push(
      areDegrees
        ? keptNote(xColumn!, yColumn!)
        : `Columns ${xColumn} and ${yColumn} hold numbers that are not degrees. If they are coordinates, name their CRS with --crs.`,
    )
  }
  return null
}

/** The first columns are `X` and `Y`, others follow, and most values have four decimals or more (about 10 m). */
function isGdalPair({ names }: SampledTable, xs: Value[], ys: Value[]): boolean {
  return names[0] === 'X' && names[1] === 'Y' && names.length > 2 && arePrecise(xs) && arePrecise(ys)
}

/** Whether most values have four decimals or more. */
function arePrecise(values: Value[]): boolean {
  const isPrecise = (value: Value) => /[.,]\d{4}/.test(String(value))
  return values.filter(isPrecise).length >= values.length * 0.8
}

function encodingOf(value: Value | undefined): GeometryEncoding | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'object')
    return !Array.isArray(value) && typeof value['type'] === 'string' ? 'geojson' : null
  if (typeof value !== 'string') return null
  if (/^\s*\{\s*"/.test(value)) return /"type"\s*:/.test(value) ? 'geojson' : null
  if (
    /^\s*(SRID\s*=\s*\d+\s*;)?\s*((MULTI)?(POINT|LINESTRING|POLYGON|CURVE|SURFACE)|GEOMETRYCOLLECTION|CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON|TIN|TRIANGLE|POLYHEDRALSURFACE)\s*(Z|M|ZM)?\s*(\(|EMPTY)/i.test(
      value,
    )
  )
    return 'wkt'
  return /^(00|01)[0-9a-f]{8,}$/i.test(value) && value.length % 2 === 0 ? 'wkb' : null
}

function statedCrs(value: Value, encoding: GeometryEncoding): string | null {
  if (encoding === 'geojson') return 'OGC:CRS84'
  const srid = sridOf(value as string, encoding)
  return srid ? `EPSG:${srid}` : null
}

/** A few stray texts in a column of numbers are problems of their rows, and do not make it a text column. */
function areNumeric(values: Value[]): boolean {
  const numeric = values.filter((value) => toNumber(value) !== null).length
  return numeric > 0 && numeric >= values.length * 0.8
}

function areWithin(values: Value[], limit: number): boolean {
  return values.every((value) => Math.abs(toNumber(value) ?? 0) <= limit)
}

/** The indexes of the other columns, which are kept as values. */
export function otherColumns(count: number, columns: CoordinateColumns | null): number[] {
  const used = columns === null ? [] : columns.kind === 'pair' ? [columns.x, columns.y] : [columns.column]
  return Array.from({ length: count }, (_, i) => i).filter((i) => !used.includes(i))
}
