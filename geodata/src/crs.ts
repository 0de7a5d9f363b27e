import proj4, { type ProjectionDefinition } from 'proj4'
import type { PROJJSONDefinition } from 'proj4/dist/lib/core.js'
import { readCrsWkt } from './crs-wkt.ts'
import { type EpsgEntry, findEpsg, findEpsgByName } from './epsg.ts'
import type { Position } from './feature.ts'
import { SourceError } from './source-error.ts'

/**
 * Coordinate reference systems: from whatever a file or a request calls one to a function on positions.
 *
 * A CRS is named by `EPSG:25832` (or just `25832`), an OGC URN or URI, `OGC:CRS84`, a PROJ string, WKT of
 * either generation (ESRI's .prj included) or PROJJSON. Positions are always x (longitude, easting) first.
 */

export type Transform = (position: Position) => Position

/** Null where the coordinates already are WGS84 longitude and latitude. Unknown: a SourceError. */
export function transformerToWgs84(crs: string): Transform | null {
  return transformer(crs, 'OGC:CRS84')
}

/**
 * Null where nothing changes. A position that has no place in the target (beyond the projection's reach, or
 * not finite) becomes NaN, NaN. Heights are kept as they are.
 */
export function transformer(from: string, to: string): Transform | null {
  const source = resolve(from)
  const target = resolve(to)
  if (source.geographic && target.geographic) return null
  if (source.code !== null && source.code === target.code) return null
  const converter = proj4(source.projection, target.projection)
  // Only a westing or southing CRS needs its axes turned; for all others the order is ours already.
  const turn = source.projection.axis !== 'enu' || target.projection.axis !== 'enu'
  return (position) => {
    const x = position[0]!
    const y = position[1]!
    const moved = Number.isFinite(x) && Number.isFinite(y) ? converter.forward([x, y], turn) : [NaN, NaN]
    return position.length > 2 ? [moved[0]!, moved[1]!, position[2]!] : [moved[0]!, moved[1]!]
  }
}

/** Whether the authority writes northing (latitude) first: what OGC API - Features must answer for this CRS. */
export function axisOrder(crs: string): 'easting-first' | 'northing-first' {
  const code = codeOf(crs)
  return code !== null && findEpsg(code)?.northingFirst ? 'northing-first' : 'easting-first'
}

/** `EPSG:25832` or `OGC:CRS84` where the CRS has a code that we know, else null. */
export function crsCode(crs: string): string | null {
  return resolve(crs).code
}

interface Resolved {
  code: string | null
  projection: Projection
  /** Longitude and latitude of WGS84 or of a datum that equals it within a metre or two. */
  geographic: boolean
}

type Projection = InstanceType<typeof proj4.Proj> & Pick<ProjectionDefinition, 'projName' | 'from_greenwich'>

function resolve(crs: string): Resolved {
  const text = crs.trim()
  if (isCrs84(text)) return { code: 'OGC:CRS84', projection: projection(WGS84, crs), geographic: true }
  const code = codeOf(text)
  if (code !== null) return known(code, crs)
  if (text.startsWith('+')) {
    const grid = /\+nadgrids=(?!@?null\b)(\S+)/.exec(text)
    if (grid) throw new SourceError(`The CRS "${shorten(crs)}" needs the grid file ${grid[1]}. ${ADVICE}`)
    return described(text, crs)
  }
  if (text.startsWith('{')) return fromProjJson(text, crs)
  if (text.includes('[')) return fromWkt(text, crs)
  throw unknown(crs)
}

const WGS84 = '+proj=longlat +datum=WGS84'

function known(code: number, crs: string): Resolved {
  const entry = findEpsg(code)
  if (!entry) throw unknown(crs)
  return { ...described(entry.definition, crs), code: `EPSG:${code}` }
}

function described(definition: string | PROJJSONDefinition, crs: string): Resolved {
  const parsed = projection(definition, crs)
  const shifted = [PJD_3PARAM, PJD_7PARAM, PJD_GRIDSHIFT].includes(parsed.datum.datum_type)
  const geographic = parsed.projName === 'longlat' && !parsed.from_greenwich && !shifted
  return { code: null, projection: parsed, geographic }
}

/** proj4's names for the datum shifts that move coordinates. */
const PJD_3PARAM = 1
const PJD_7PARAM = 2
const PJD_GRIDSHIFT = 3

function projection(definition: string | PROJJSONDefinition, crs: string): Projection {
  try {
    return new proj4.Proj(definition) as Projection
  } catch {
    throw unknown(crs)
  }
}

function fromProjJson(text: string, crs: string): Resolved {
  let parsed: ProjJson
  try {
    parsed = JSON.parse(text)
  } catch {
    throw unknown(crs)
  }
  const horizontal = parsed.components?.[0] ?? parsed.source_crs ?? parsed
  const { authority, code } = horizontal.id ?? {}
  if (authority === 'OGC' && /^CRS84h?$/.test(String(code))) return resolve('OGC:CRS84')
  if (authority && findEpsg(Number(code))) return known(Number(code), crs)
  if (!horizontal.datum && !horizontal.datum_ensemble && !horizontal.base_crs) throw unknown(crs)
  return described(horizontal, crs)
}

interface ProjJson extends PROJJSONDefinition {
  components?: ProjJson[]
  source_crs?: ProjJson
  base_crs?: ProjJson
}

function fromWkt(text: string, crs: string): Resolved {
  const wkt = readCrsWkt(text)
  if (!wkt) throw unknown(crs)
  if (wkt.code !== null && findEpsg(wkt.code)) return known(wkt.code, crs)
  const named = findEpsgByName(wkt.name)
  let plain: Resolved | null = null
  try {
    plain = described(wkt.text, crs)
  } catch (error) {
    if (named === null) throw error
  }
  if (named !== null) {
    const candidate = known(named, crs)
    if (!plain || agree(plain, candidate, findEpsg(named)!.area)) return candidate
  }
  const datum = wkt.geographicName ? findEpsgByName(wkt.geographicName) : null
  const shift = datum ? /\+towgs84=(\S+)/.exec(findEpsg(datum)!.definition)?.[1] : undefined
  return shift && !wkt.hasShift ? described(wkt.withShift(shift), crs) : plain!
}

/** Names repeat and files are edited: a name counts only if both put the middle of its area in one place. */
function agree(one: Resolved, other: Resolved, area: EpsgEntry['area']): boolean {
  const [west, south, east, north] = area ?? [-180, -90, 180, 90]
  const middle = [(west + east) / 2, (south + north) / 2]
  const there = proj4(proj4.WGS84, other.projection).forward(middle)
  const back = proj4(one.projection, proj4.WGS84).forward(there)
  const turns = Math.round((back[0]! - middle[0]!) / 360)
  return Math.abs(back[0]! - middle[0]! - turns * 360) < 0.02 && Math.abs(back[1]! - middle[1]!) < 0.02
}

const ADVICE = 'Name another with --crs, such as --crs EPSG:25832.'

function unknown(crs: string): SourceError {
  return new SourceError(`The CRS "${shorten(crs)}" is not known. ${ADVICE}`)
}

function shorten(crs: string): string {
  const line = crs.trim().replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 80)}…` : line
}

function isCrs84(text: string): boolean {
  return (
    /^(OGC|CRS):(1\.3:)?(CRS)?84h?$/i.test(text) ||
    /^urn:(x-)?ogc:def:crs:OGC:[\d.]*:CRS84h?$/i.test(text) ||
    /^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/[\d.]+\/CRS84h?$/i.test(text)
  )
}

/** The EPSG (or ESRI) number that the text states about itself, whether or not we know it. */
function codeOf(crs: string): number | null {
  const text = crs.trim()
  const named =
    // A compound CRS is named by two codes: the height's stands second and is not our concern.
    /^(?:EPSG|ESRI):+(\d+)(?:\+\d+)?$/i.exec(text) ??
    /^(\d{4,6})$/.exec(text) ??
    /^urn:(?:x-)?ogc:def:crs:(?:EPSG|ESRI):[^:]*:(\d+)$/i.exec(text) ??
    /^urn:ogc:def:crs,crs:EPSG:[^:]*:(\d+),/i.exec(text) ??
    /^https?:\/\/www\.opengis\.net\/def\/crs\/(?:EPSG|ESRI)\/[^/]+\/(\d+)$/i.exec(text) ??
    /^https?:\/\/www\.opengis\.net\/gml\/srs\/epsg\.xml#(\d+)$/i.exec(text)
  return named ? Number(named[1]) : null
}
