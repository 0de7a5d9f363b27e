import proj4 from 'proj4'
import { SourceError } from '../source-error.ts'
import { type DatumTransformation, transformationsOf } from './datum-transformations.ts'
import type { CrsDescription } from './description.ts'
import { type EpsgEntry, findBaseByDatum, findEpsg, findEpsgByName } from './epsg.ts'
import { projString } from './methods.ts'
import { codeOf, isCrs84 } from './names.ts'
import { PROJ_DEFAULTS, readProjText } from './proj-text.ts'
import { projJsonId, readProjJson } from './read-projjson.ts'
import { readWkt } from './read-wkt.ts'

/** A CRS in the form that its transformation to WGS84 needs. */
export interface ResolvedCrs {
  /** `EPSG:25832` or `OGC:CRS84` if it has a known code. */
  code: string | null
  /** Null if its coordinates are longitude and latitude in degrees from Greenwich. */
  projection: Projection | null
  datum: Datum
}

type Projection =
  | {
      kind: 'projected'
      /** A PROJ string without a datum shift. */
      definition: string
    }
  | {
      kind: 'angles'
      /** Degrees per unit. */
      unit: number
      /** The prime meridian in degrees east of Greenwich. */
      meridian: number
    }

export interface Datum {
  /** `+ellps=…`, `+a=… +rf=…` or `+R=…`. */
  ellipsoid: string
  /** The transformations to WGS84, one of which is chosen by location. Empty if none is known. */
  transformations: DatumTransformation[]
  /**
   * The origin of the transformations: `published` in EPSG's list; `stated` by the file itself; `assumed`
   * because the ellipsoid is that of WGS84 and nothing else is stated; `unknown` if the datum is unknown;
   * `wgs84` if there are none because none is needed.
   */
  origin: 'wgs84' | 'published' | 'stated' | 'assumed' | 'unknown'
}

const WORLD: [number, number, number, number] = [-180, -90, 180, 90]
const WGS84_DATUM: Datum = { ellipsoid: '+ellps=WGS84', transformations: [], origin: 'wgs84' }
const CRS84: ResolvedCrs = { code: 'OGC:CRS84', projection: null, datum: WGS84_DATUM }

/** Throws a SourceError that names the CRS and a way to proceed if the CRS is unknown. */
export function resolveCrs(crs: string): ResolvedCrs {
  // A .prj may begin with a byte order mark.
  const text = crs.replace(/^\uFEFF/, '').trim()
  if (isCrs84(text)) return CRS84
  const code = codeOf(text)
  if (code !== null) return fromCode(code) ?? refuse(crs)
  if (text.startsWith('+') || /^proj=/.test(text)) return fromProjText(text, crs)
  if (text.startsWith('{')) return fromProjJson(parseJson(text), crs)
  if (/[[(]/.test(text)) {
    const description = readWkt(text)
    if (description) return fromDescription(description, crs)
  }
  const codeByName = findEpsgByName(text)
  return (codeByName === null ? null : fromCode(codeByName)) ?? refuse(crs)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function fromCode(code: number): ResolvedCrs | null {
  const entry = findEpsg(code)
  return (
    entry && {
      code: `${entry.authority}:${code}`,
      projection: projectionOf(entry.definition),
      datum: datumOf(entry),
    }
  )
}

function projectionOf(definition: string): Projection | null {
  if (!definition.startsWith('+proj=longlat')) return { kind: 'projected', definition }
  const unit = Number(/\+to_degree=(\S+)/.exec(definition)?.[1] ?? 1)
  const meridian = Number(/\+pm=(\S+)/.exec(definition)?.[1] ?? 0)
  return unit === 1 && meridian === 0 ? null : { kind: 'angles', unit, meridian }
}

function datumOf(entry: EpsgEntry): Datum {
  if (entry.base === 4326) return WGS84_DATUM
  const base = entry.code === entry.base ? entry : findEpsg(entry.base)
  const ellipsoid = ellipsoidIn(base?.definition ?? entry.definition)
  const transformations = transformationsOf(entry.base, entry.area)
  return { ellipsoid, transformations, origin: transformations.length > 0 ? 'published' : 'unknown' }
}

function ellipsoidIn(definition: string): string {
  return definition.match(/\+(ellps|a|rf|R)=\S+/g)?.join(' ') ?? '+ellps=WGS84'
}

function fromProjJson(json: unknown, crs: string): ResolvedCrs {
  const description = readProjJson(json)
  if (description) return fromDescription(description, crs)
  // Some writers only state the code.
  const id = projJsonId(json)
  if (id?.authority === 'OGC' && /^CRS84h?$/.test(id.code)) return CRS84
  const code = codeOfId(id)
  return (code === null ? null : fromCode(code)) ?? refuse(crs)
}

function fromDescription(crs: CrsDescription | null, text: string): ResolvedCrs {
  if (!crs) return refuse(text)
  const { semiMajorAxis } = crs.geographic
  if (!(semiMajorAxis > 6.3e6 && semiMajorAxis < 6.5e6))
    throw new SourceError(`The CRS "${crs.name}" is not one of the Earth.`)
  if (crs.id?.authority === 'OGC' && /^CRS84h?$/.test(crs.id.code)) return CRS84
  const definition = projString(crs)
  const byId = entryOf(codeOfId(crs.id))
  const statesAxes = crs.projected?.axes !== null
  if (byId && agrees(byId, definition, statesAxes)) return fromCode(byId.code)!
  // Names are not unique: EPSG and ESRI use the same name for CRSs with different datums.
  const byName = entryOf(findEpsgByName(crs.name))
  const base = entryOf(baseOf(crs.geographic))?.base
  const isSameDatum = base === undefined || byName?.base === base
  if (byName && isSameDatum && agrees(byName, definition, true)) return fromCode(byName.code)!
  if (definition === null)
    throw new SourceError(
      `The CRS "${crs.name}" uses the projection ${crs.projected?.method}, which is not supported. ${ADVICE}`,
    )
  return { code: null, projection: projectionOf(definition), datum: describedDatum(crs) }
}

function codeOfId(id: { authority: string; code: string } | null): number | null {
  return id && /^(EPSG|ESRI)$/i.test(id.authority) && /^\d+$/.test(id.code) ? Number(id.code) : null
}

/**
 * Whether a list entry matches the text. Names are not unique, and codes are kept when a text is edited, so
 * the text's own definition takes precedence unless both place the middle of the area within a metre of each
 * other. If the projection of a text is not supported, its code or name is trusted.
 */
function agrees(entry: EpsgEntry, definition: string | null, statesAxes: boolean): boolean {
  if (definition === null) return true
  // WKT 1 often omits the axes, and then does not state that they point to the south and the west.
  const withAxes = (text: string) => (statesAxes ? text : text.replace(/ ?\+axis=\S+/, ''))
  const angles = (text: string) => projectionOf(text)?.kind !== 'projected'
  if (angles(entry.definition) || angles(definition))
    return angles(entry.definition) && angles(definition) && sameAngles(entry.definition, definition)
  const [west, south, east, north] = entry.area ?? WORLD
  const middle = [(west + east) / 2 + 0.1, (south + north) / 2 + 0.1]
  try {
    const one = proj4(PROJ_DEFAULTS + withAxes(entry.definition)).forward([...middle], true)
    const other = proj4(PROJ_DEFAULTS + withAxes(definition)).forward([...middle], true)
    const unit = Number(/\+to_meter=(\S+)/.exec(definition)?.[1] ?? 1)
    return Math.hypot(one[0]! - other[0]!, one[1]! - other[1]!) * unit < 1
  } catch {
    return false
  }
}

function sameAngles(one: string, other: string): boolean {
  const first = projectionOf(one)
  const second = projectionOf(other)
  const value = (each: Projection | null, name: 'unit' | 'meridian') =>
    each?.kind === 'angles' ? each[name] : name === 'unit' ? 1 : 0
  return (
    Math.abs(value(first, 'unit') - value(second, 'unit')) < 1e-9 &&
    Math.abs(value(first, 'meridian') - value(second, 'meridian')) < 1e-6 &&
    Math.abs(axisIn(one) - axisIn(other)) < 1
  )
}

function axisIn(definition: string): number {
  return Number(/\+(?:a|R)=(\S+)/.exec(definition)?.[1] ?? 6378137)
}

/** The datum of a CRS without a code: from the stated shift, otherwise from its geographic CRS or datum. */
function describedDatum({ geographic, shift }: CrsDescription): Datum {
  const { semiMajorAxis, inverseFlattening } = geographic
  const ellipsoid =
    inverseFlattening === 0 ? `+R=${semiMajorAxis}` : `+a=${semiMajorAxis} +rf=${inverseFlattening}`
  if (shift) return statedDatum(ellipsoid, shift)
  return knownDatum(baseOf(geographic), semiMajorAxis, inverseFlattening, ellipsoid)
}

function baseOf({ id, name, datumName }: CrsDescription['geographic']): number | null {
  return codeOfId(id) ?? findEpsgByName(name) ?? findBaseByDatum(datumName)
}

function entryOf(code: number | null): EpsgEntry | null {
  return code === null ? null : findEpsg(code)
}

/** Only uses a base with the same ellipsoid, because an edited text may keep the name of another datum. */
function knownDatum(code: number | null, semiMajorAxis: number, rf: number, ellipsoid: string): Datum {
  const base = code === null ? null : findEpsg(code)
  if (base?.definition.startsWith('+proj=longlat') && Math.abs(axisIn(base.definition) - semiMajorAxis) < 1) {
    const transformations = transformationsOf(base.base, null)
    if (base.base === 4326) return { ...WGS84_DATUM, ellipsoid }
    if (transformations.length > 0) return { ellipsoid, transformations, origin: 'published' }
  }
  const isLikeWgs84 = semiMajorAxis === 6378137 && Math.abs(rf - 298.2572) < 0.0001
  return { ellipsoid, transformations: [], origin: isLikeWgs84 ? 'assumed' : 'unknown' }
}

function statedDatum(ellipsoid: string, shift: number[]): Datum {
  const parameters = shift.every((value) => value === 0) ? [] : shift
  const name = 'the datum shift that the file states'
  return {
    ellipsoid,
    transformations: [{ name, accuracy: null, area: WORLD, parameters, offshore: false }],
    origin: 'stated',
  }
}

function fromProjText(text: string, crs: string): ResolvedCrs {
  const grid = /\bnadgrids=(?!@?null\b)(\S+)/.exec(text)
  if (grid) throw new SourceError(`The CRS "${shorten(crs)}" needs the grid file ${grid[1]}. ${ADVICE}`)
  const parsed = readProjText(text.startsWith('+') ? text : `+${text}`)
  if (!parsed) return refuse(crs)
  const { definition, semiMajorAxis, inverseFlattening, base, shift, isWgs84 } = parsed
  const ellipsoid = ellipsoidIn(definition)
  try {
    new proj4.Proj(PROJ_DEFAULTS + definition)
  } catch {
    return refuse(crs)
  }
  const datum = isWgs84
    ? { ...WGS84_DATUM, ellipsoid }
    : shift
      ? statedDatum(ellipsoid, shift)
      : knownDatum(base, semiMajorAxis, inverseFlattening, ellipsoid)
  return { code: null, projection: projectionOf(definition), datum }
}

const ADVICE = 'Name another with --crs, such as --crs EPSG:25832.'

function refuse(crs: string): never {
  throw new SourceError(`The CRS "${shorten(crs)}" is not known. ${ADVICE}`)
}

function shorten(crs: string): string {
  const line = crs.trim().replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 80)}…` : line
}
