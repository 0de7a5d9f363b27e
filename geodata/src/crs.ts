import proj4 from 'proj4'
import { chooseTransformation } from './crs/datum-transformations.ts'
import { findEpsg } from './crs/epsg.ts'
import { codeOf, isCompoundName, ogcCode } from './crs/names.ts'
import { PROJ_DEFAULTS } from './crs/proj-text.ts'
import { type Datum, type ResolvedCrs, resolveCrs } from './crs/resolve.ts'
import type { Position } from './feature.ts'

/**
 * Coordinate reference systems: from any name in a file or a request to a function on positions.
 *
 * A CRS is named by `EPSG:25832` (or just `25832`), an OGC URN or URI, `OGC:CRS84`, a PROJ string, WKT 1 or
 * WKT 2 (including ESRI's .prj) or PROJJSON. Positions are always x (longitude, easting) first. proj4
 * computes projections and datum shifts; its definitions come from PROJ's database (see crs/epsg.tsv).
 */

export type Transform = (position: Position) => Position

/** Null if coordinates are already WGS84 longitude, latitude. Throws a SourceError for an unknown CRS. */
export function transformerToWgs84(crs: string): Transform | null {
  return toWgs84(resolveCrs(crs))
}

/**
 * Returns null if nothing changes. A position that the target cannot represent (outside the projection's
 * domain, or not finite) becomes NaN, NaN. Heights are not changed.
 */
export function transformer(from: string, to: string): Transform | null {
  const source = resolveCrs(from)
  const target = resolveCrs(to)
  if (source.code !== null && source.code === target.code) return null
  const there = toWgs84(source)
  const back = fromWgs84(target)
  if (!there || !back) return there ?? back
  return (position) => back(there(position))
}

/** Whether the authority puts northing (latitude) first, which OGC API - Features then requires. */
export function axisOrder(crs: string): 'easting-first' | 'northing-first' {
  const code = ogcCode(crs) === null ? codeOf(crs) : null
  return code !== null && findEpsg(code)?.northingFirst ? 'northing-first' : 'easting-first'
}

/** Whether the name denotes a CRS of positions and heights that has a horizontal and a vertical part. */
export function isCompoundCrs(crs: string): boolean {
  const code = codeOf(crs)
  return isCompoundName(crs) || (code !== null && findEpsg(code)?.isCompound === true)
}

/** `EPSG:25832` or `OGC:CRS84` if the CRS has a known code, otherwise null. */
export function crsCode(crs: string): string | null {
  return resolveCrs(crs).code
}

type Step = (x: number, y: number) => [number, number]

function toWgs84(crs: ResolvedCrs): Transform | null {
  const unproject = projectionStep(crs, 'inverse')
  const shift = datumStep(crs.datum, 'forward')
  if (!unproject && !shift) return null
  return positions((x, y) => {
    const geodetic = unproject ? unproject(x, y) : ([x, y] as [number, number])
    const [longitude, latitude] = shift ? shift(...geodetic) : geodetic
    return [withinTurn(longitude), latitude]
  })
}

function fromWgs84(crs: ResolvedCrs): Transform | null {
  const shift = datumStep(crs.datum, 'inverse')
  const project = projectionStep(crs, 'forward')
  if (!project && !shift) return null
  return positions((x, y) => {
    const geodetic = shift ? shift(x, y) : ([x, y] as [number, number])
    return project ? project(...geodetic) : geodetic
  })
}

function positions(step: Step): Transform {
  return (position) => {
    const x = position[0]!
    const y = position[1]!
    let moved: [number, number] = [Number.NaN, Number.NaN]
    if (Number.isFinite(x) && Number.isFinite(y)) {
      try {
        moved = step(x, y)
      } catch {
        // Some of proj4's projections throw for a position outside their domain.
      }
    }
    return position.length > 2 ? [moved[0], moved[1], position[2]!] : moved
  }
}

/** A prime meridian other than Greenwich may move longitudes past the antimeridian. */
function withinTurn(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
}

/** Converts between the CRS's coordinates and longitude, latitude in degrees from Greenwich, on its datum. */
function projectionStep({ projection, datum }: ResolvedCrs, direction: 'forward' | 'inverse'): Step | null {
  if (projection === null) return null
  if (projection.kind === 'angles') {
    const { unit, meridian } = projection
    if (direction === 'inverse') return (x, y) => [x * unit + meridian, y * unit]
    return (x, y) => [withinTurn(x - meridian) / unit, y / unit]
  }
  const converter = proj4(PROJ_DEFAULTS + projection.definition, `+proj=longlat ${datum.ellipsoid}`)
  // Only a CRS with axes to the west or south needs them reversed; all others already have x, y.
  const turn = projection.definition.includes('+axis=')
  const convert = (direction === 'inverse' ? converter.forward : converter.inverse) as (
    position: number[],
    enforceAxis: boolean,
  ) => [number, number]
  if (direction === 'inverse' && isWorldMap(projection.definition)) {
    return (x, y) => onSideOf(x, convert([x, y], turn))
  }
  return (x, y) => convert([x, y], turn)
}

/** Projections of the whole world, if their map ends at the antimeridian on both sides. */
function isWorldMap(definition: string): boolean {
  if (/\+(lon_0|x_0)=-?0*\.?0*[1-9]/.test(definition)) return false
  return /\+proj=(merc|webmerc|eqc|cea|mill|robin|moll|sinu|eck\d|natearth2?|eqearth|wintri|aitoff|hammer|gall|vandg)\b/.test(
    definition,
  )
}

/** How far a rounded coordinate may be beyond the edge of a map. */
const EDGE_DEGREES = 0.01

/**
 * A coordinate that is rounded beyond the edge of a map has a longitude on its other side, and the shape that it
 * belongs to would cross the whole map. It is moved back to the edge.
 */
function onSideOf(x: number, [longitude, latitude]: [number, number]): [number, number] {
  const isBeyond = longitude * x < 0 && Math.abs(longitude) > 180 - EDGE_DEGREES
  return [isBeyond ? 180 * Math.sign(x) : longitude, latitude]
}

/** Converts between the datum and WGS84; `forward` is to WGS84. */
function datumStep({ ellipsoid, transformations }: Datum, direction: 'forward' | 'inverse'): Step | null {
  const steps = transformations.map(({ parameters }): Step | null => {
    if (parameters.length === 0) return null
    const converter = proj4(`+proj=longlat ${ellipsoid} +towgs84=${parameters.join(',')}`, 'WGS84')
    const convert = converter[direction]
    return (x, y) => convert([x, y]) as [number, number]
  })
  if (steps.every((step) => step === null)) return null
  if (steps.length === 1) return steps[0]!
  return (x, y) => {
    const step = steps[chooseTransformation(transformations, x, y)]
    return step ? step(x, y) : [x, y]
  }
}
