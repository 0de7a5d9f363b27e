import type { Transformer } from '../geometry/prepare-geometry.ts'

/** How coordinates in this CRS become WGS84; null where they are, or where nothing is said about them. */
export async function transformerFor(crs: string | null): Promise<Transformer | null> {
  if (crs === null || crs === 'OGC:CRS84') return null
  // The list of reference systems is large: most sources do without.
  const { transformerToWgs84 } = await import('../crs.ts')
  return transformerToWgs84(crs)
}

/** The short name of a CRS: files call it by URNs, URIs and pages of WKT or JSON. */
export async function crsName(crs: string | null): Promise<string | null> {
  if (crs === null || crs === 'OGC:CRS84') return crs
  const { crsCode } = await import('../crs.ts')
  return crsCode(crs) ?? /^\s*(?:\w+\[|\{.*?"name"\s*:\s*)"([^"]+)"/s.exec(crs)?.[1] ?? crs
}
