import { type Schema, Type } from 'apache-arrow'
import type { Geometry, Position } from '../../feature.ts'
import { readWkb } from '../../geometry/wkb.ts'
import { readWkt } from '../../geometry/wkt.ts'
import { SourceError } from '../../source-error.ts'
import { GEOARROW_TYPES, USUAL_GEOMETRY_NAMES } from '../reading/geoarrow.ts'

export interface ArrowGeometry {
  index: number
  crs: string | null
  /** Returns a sentence if the value is not a geometry. */
  read(value: unknown): Geometry | null | string
}

interface GeoMetadata {
  primary_column?: string
  columns?: { [name: string]: { encoding?: string; crs?: object | string | null } }
}

/** The geometry column: by GeoArrow's extension types, by the metadata that geopandas writes, or by its name. */
export function findArrowGeometry(schema: Schema, file: string): ArrowGeometry | null {
  const geo = geoMetadata(schema, file)
  for (const [index, field] of schema.fields.entries()) {
    const extension = field.metadata.get('ARROW:extension:name') ?? ''
    const match = /^(?:geoarrow|ogc)\.(\w+)$/.exec(extension)
    if (!match) continue
    const crs =
      extensionCrs(field.metadata.get('ARROW:extension:metadata')) ?? geo?.columns?.[field.name]?.crs
    return { index, crs: crsText(crs), read: reader(match[1]!, file) }
  }
  const primary = geo?.primary_column ?? Object.keys(geo?.columns ?? {})[0]
  const named = schema.fields.findIndex(({ name }) => name === primary)
  if (geo && named >= 0) {
    const { encoding = 'WKB', crs } = geo.columns?.[primary!] ?? {}
    return { index: named, crs: crsText(crs), read: reader(encoding, file) }
  }
  const isBytes = (id: Type) => id === Type.Binary || id === Type.LargeBinary
  const bytes = schema.fields.findIndex(
    ({ name, type }) => isBytes(type.typeId) && USUAL_GEOMETRY_NAMES.test(name),
  )
  return bytes < 0 ? null : { index: bytes, crs: null, read: reader('wkb', file) }
}

function geoMetadata(schema: Schema, file: string): GeoMetadata | null {
  const text = schema.metadata.get('geo')
  if (text === undefined) return null
  try {
    return JSON.parse(text)
  } catch {
    throw new SourceError(`${file} has "geo" metadata that is not valid JSON.`)
  }
}

function extensionCrs(metadata: string | undefined): object | string | null | undefined {
  try {
    return (JSON.parse(metadata || '{}') as { crs?: object | string }).crs
  } catch {
    return undefined
  }
}

function crsText(crs: object | string | null | undefined): string | null {
  if (crs === undefined) return 'OGC:CRS84'
  return crs === null ? null : typeof crs === 'string' ? crs : JSON.stringify(crs)
}

function reader(encoding: string, file: string): ArrowGeometry['read'] {
  const name = encoding.toLowerCase()
  if (name === 'wkb') return (value) => (value === null ? null : parsed(() => readWkb(value as Uint8Array)))
  if (name === 'wkt') return (value) => (value === null ? null : parsed(() => readWkt(String(value))))
  const type = GEOARROW_TYPES[name]
  if (!type) throw new SourceError(`${file} encodes its geometry as ${encoding}, which is not known.`)
  return (value) => (value === null ? null : ({ type, coordinates: positions(value) } as Geometry))
}

function parsed(read: () => Geometry): Geometry | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof SourceError) return error.message
    throw error
  }
}

type Nested = Position | Nested[]

/** A position is a struct with x and y, or a list of fixed length; an empty point is NaN. */
function positions(value: unknown): Nested {
  if (typeof value === 'object' && value !== null && 'x' in value && 'y' in value) {
    const { x, y, z } = value as { x: number; y: number; z?: number }
    return Number.isNaN(x) ? [] : typeof z === 'number' && !Number.isNaN(z) ? [x, y, z] : [x, y]
  }
  const list = [...(value as Iterable<unknown>)]
  if (typeof list[0] !== 'number') return list.map(positions)
  return Number.isNaN(list[0]) ? [] : (list.slice(0, 3) as Position)
}
