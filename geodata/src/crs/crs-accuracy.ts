import { SourceError } from '../source-error.ts'
import {
  chooseTransformation,
  contains,
  type DatumTransformation,
  intersects,
} from './datum-transformations.ts'
import type { Area } from './epsg.ts'
import { type Datum, resolveCrs } from './resolve.ts'

/** How a source's coordinates were transformed to WGS84; part of the publish report. */
export interface CrsTransformation {
  /** The EPSG name of the datum transformation; several if more than one applies in the data's area. */
  name: string
  /** The largest error in metres that EPSG states for it; null if none is stated. */
  accuracy: number | null
}

/** A less accurate transformation is rejected unless the publisher accepts it. */
const MAX_ERROR_METRES = 20

const ALLOW = '--allow-inaccurate-crs'

/** Rejects a CRS that exceeds the limit everywhere, before anything is read. */
export function refuseHopelessCrs(crs: string): void {
  const { datum } = resolveCrs(crs)
  if (datum.origin === 'unknown')
    throw new SourceError(
      `No transformation from the datum of ${shortName(crs)} to WGS84 is known that needs no grid file, so its coordinates may be hundreds of metres off. Transform the file to WGS84 first, or accept that with ${ALLOW}.`,
    )
  if (datum.origin !== 'published') return
  const best = Math.min(...datum.transformations.map(errorOf))
  if (best > MAX_ERROR_METRES) throw inaccurate(crs, best)
}

/** Rejects a CRS that exceeds the limit in the area of the data, or whose accuracy is not known there. */
export function refuseInaccurateCrs(crs: string, bbox: readonly number[]): void {
  const { datum } = resolveCrs(crs)
  if (datum.origin !== 'published') return
  if (isOutside(datum, bbox))
    throw new SourceError(
      `The coordinates lie outside the areas of all known transformations from the datum of ${shortName(crs)} to WGS84, so they may be hundreds of metres off. If the CRS is the right one, transform the file to WGS84 first, or accept that with ${ALLOW}.`,
    )
  const worst = Math.max(...transformationsIn(datum, bbox).map(errorOf))
  if (worst > MAX_ERROR_METRES) throw inaccurate(crs, worst)
}

function inaccurate(crs: string, metres: number): SourceError {
  const error = Number.isFinite(metres) ? `within ${metres} m only` : 'with an unknown accuracy'
  return new SourceError(
    `Coordinates in ${shortName(crs)} can be brought to WGS84 ${error}, and ${MAX_ERROR_METRES} m is the limit. Transform the file to WGS84 first, or accept that with ${ALLOW}.`,
  )
}

/** Returns null if the CRS is based on the WGS84 datum, so that no datum transformation is needed. */
export function crsTransformation(crs: string, bbox: readonly number[] | null): CrsTransformation | null {
  const { datum } = resolveCrs(crs)
  if (datum.origin === 'wgs84') return null
  if (datum.origin === 'unknown') return { name: 'none: the datum was taken as WGS 84', accuracy: null }
  if (datum.origin === 'assumed')
    return { name: 'none: no datum is named, and its ellipsoid is that of WGS 84', accuracy: null }
  const used = bbox ? transformationsIn(datum, bbox) : datum.transformations
  const worst = Math.max(...used.map(errorOf))
  const name = used.map(({ name }) => name).join(', ')
  if (bbox && isOutside(datum, bbox)) return { name: `${name}, outside its area`, accuracy: null }
  return { name, accuracy: Number.isFinite(worst) ? worst : null }
}

/** A transformation stays usable this far outside its published area, which is often a country without its sea. */
const MARGIN_DEGREES = 1

/** Whether the box lies outside the areas of all transformations. Geocentric datums are like WGS84 everywhere. */
function isOutside({ transformations }: Datum, bbox: readonly number[]): boolean {
  const [west, south, east, north] = flatBox(bbox)
  const wider: Area = [
    west - MARGIN_DEGREES,
    south - MARGIN_DEGREES,
    east + MARGIN_DEGREES,
    north + MARGIN_DEGREES,
  ]
  return !transformations.some(({ parameters, area }) => parameters.length === 0 || intersects(area, wider))
}

/** What a report says if only a part of the data lies in the areas of the transformations. */
export function areaNotes(crs: string, bbox: readonly number[]): string[] {
  const { datum } = resolveCrs(crs)
  const { origin, transformations } = datum
  if (origin !== 'published' || isOutside(datum, bbox)) return []
  const isCovered = ([longitude, latitude]: [number, number]) =>
    transformations.some(
      ({ parameters, area: [west, south, east, north] }) =>
        parameters.length === 0 ||
        contains(
          [west - MARGIN_DEGREES, south - MARGIN_DEGREES, east + MARGIN_DEGREES, north + MARGIN_DEGREES],
          longitude,
          latitude,
        ),
    )
  return places(bbox).every(isCovered)
    ? []
    : [
        `Parts of the bounding box lie outside the areas of all known transformations from the datum of ${shortName(crs)} to WGS84: the accuracy of coordinates is not known there.`,
      ]
}

function flatBox(bbox: readonly number[]): Area {
  return (bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox) as Area
}

function errorOf({ accuracy }: DatumTransformation): number {
  return accuracy ?? Number.POSITIVE_INFINITY
}

const STEPS = 8

/** The transformations that are used somewhere in the box. */
function transformationsIn({ transformations }: Datum, bbox: readonly number[]): DatumTransformation[] {
  const chosen = new Set(places(bbox).map((place) => chooseTransformation(transformations, ...place)))
  return [...chosen].sort((one, other) => one - other).map((index) => transformations[index]!)
}

/** Places on a grid over the box. */
function places(bbox: readonly number[]): [longitude: number, latitude: number][] {
  const [west, south, east, north] = flatBox(bbox)
  const steps = Array.from({ length: STEPS + 1 }, (_, i) => i / STEPS)
  return steps.flatMap((i) =>
    steps.map((j): [number, number] => [west + (east - west) * i, south + (north - south) * j]),
  )
}

/** The code or name of a CRS for messages, instead of its full WKT. */
export function shortName(crs: string): string {
  const text = crs.replace(/^\uFEFF/, '').trim()
  return resolveCrs(text).code ?? /^\s*(?:\w+\[|\{.*?"name"\s*:\s*)"([^"]+)"/s.exec(text)?.[1] ?? text
}
