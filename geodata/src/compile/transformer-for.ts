import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { Transformer } from '../geometry/prepare-geometry.ts'

/** How coordinates in this CRS become WGS84; null if they are, or if nothing is said about them. */
export async function transformerFor(crs: string | null): Promise<Transformer | null> {
  if (isWgs84(crs)) return null
  // The list of reference systems is large, and most sources need none.
  const { transformerToWgs84 } = await import('../crs.ts')
  return transformerToWgs84(crs)
}

/** The short name of a CRS: files call it by URNs, URIs and pages of WKT or JSON. */
export async function crsName(crs: string | null): Promise<string | null> {
  if (isWgs84(crs)) return crs
  const { shortName } = await import('../crs/crs-accuracy.ts')
  return shortName(crs)
}

/** Throws if the CRS is inaccurate everywhere; with a box, if it is inaccurate there. */
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

/** What a file says of its CRS; null if it only says that it is not defined, as GDAL writes for none. */
export function statedCrs(crs: string | null): string | null {
  return crs !== null && /^\W*(LOCAL_CS|ENG(INEERING)?CRS)\s*\[\s*"(Undefined|Unknown)\b/i.test(crs)
    ? null
    : crs
}

function isWgs84(crs: string | null): crs is null | 'OGC:CRS84' {
  return crs === null || crs === 'OGC:CRS84'
}
