import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { Transformer } from '../geometry/prepare-geometry.ts'

/** Transforms coordinates in this CRS to WGS84; null if they are WGS84 already or no CRS is stated. */
export async function transformerFor(crs: string | null): Promise<Transformer | null> {
  if (isWgs84(crs)) return null
  // The list of reference systems is large and most sources do not need it, so import it lazily.
  const { transformerToWgs84 } = await import('../crs.ts')
  return transformerToWgs84(crs)
}

/** The short name of a CRS, which files identify by URN, URI, WKT or PROJJSON. */
export async function crsName(crs: string | null): Promise<string | null> {
  if (isWgs84(crs)) return crs
  const { shortName } = await import('../crs/crs-accuracy.ts')
  return shortName(crs)
}

/** Throws if the CRS is inaccurate everywhere or, with a bounding box, if it is inaccurate in that box. */
export async function refuseInaccurate(crs: string | null, bbox: readonly number[] | null): Promise<void> {
  if (isWgs84(crs)) return
  const { refuseHopelessCrs, refuseInaccurateCrs } = await import('../crs/crs-accuracy.ts')
  if (bbox === null) refuseHopelessCrs(crs)
  else refuseInaccurateCrs(crs, bbox)
}

export async function transformationFor(
  crs: string | null,
  bbox: readonly number[] | null,
): Promise<CrsTransformation | null> {
  if (isWgs84(crs)) return null
  const { crsTransformation } = await import('../crs/crs-accuracy.ts')
  return crsTransformation(crs, bbox)
}

/** What to report if a part of the data lies outside the areas of all transformations. */
export async function areaNotesFor(crs: string | null, bbox: readonly number[] | null): Promise<string[]> {
  if (isWgs84(crs) || bbox === null) return []
  const { areaNotes } = await import('../crs/crs-accuracy.ts')
  return areaNotes(crs, bbox)
}

/** The CRS that a file states; null for the "undefined" placeholder that GDAL writes without a CRS. */
export function statedCrs(crs: string | null): string | null {
  return crs !== null && /^\W*(LOCAL_CS|ENG(INEERING)?CRS)\s*\[\s*"(Undefined|Unknown)\b/i.test(crs)
    ? null
    : crs
}

function isWgs84(crs: string | null): crs is null | 'OGC:CRS84' {
  return crs === null || crs === 'OGC:CRS84'
}
