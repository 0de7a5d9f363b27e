import { createReadStream } from 'node:fs'
import { axisOrder, crsCode, isCompoundCrs } from '../../crs.ts'
import { SourceError } from '../../source-error.ts'

/** Enough to see that names differ, and to list some of them. */
const MAX_NAMES = 10
const SRS_NAME = /\bsrsName\s*=\s*(?:"([^"]*)"|'([^']*)')/g
/** The end of a piece in which an attribute may have begun. */
const OVERLAP = 1000

/**
 * The CRS of a GML for which GDAL states none: its geometries have names that differ, or a name that GDAL does not
 * know. Null if the file names no CRS.
 */
export async function crsOfGml(path: string, file: string): Promise<string | null> {
  const names = await srsNames(path)
  const codes = new Set(names.map((name) => codeOf(name) ?? name))
  if (codes.size > 1) {
    const list = names.slice(0, 3).join(', ')
    throw new SourceError(
      `${file} has geometries in several CRSs (${list}${names.length > 3 ? ', …' : ''}), and a dataset has one. Convert the file to one of them, for instance to GeoPackage.`,
    )
  }
  const [name] = names
  // GDAL brings x to the front only in the systems that it knows.
  if (name !== undefined && names.length === 1 && axisOrder(name) === 'northing-first')
    throw new SourceError(
      `${file} is in the CRS ${name}, but GDAL does not find it with its geometries. Convert the file to GeoPackage.`,
    )
  const [code] = codes
  return code ?? null
}

async function srsNames(path: string): Promise<string[]> {
  const names = new Set<string>()
  let rest = ''
  for await (const piece of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 18 })) {
    // All marks are ASCII, so this is enough for UTF-16 too.
    const text = rest + (piece as string).replaceAll('\0', '')
    for (const [, double, single] of text.matchAll(SRS_NAME)) {
      const name = (double ?? single!).trim()
      if (name !== '') names.add(name)
    }
    if (names.size >= MAX_NAMES) break
    rest = text.slice(-OVERLAP)
  }
  return [...names]
}

function codeOf(name: string): string | null {
  try {
    return crsCode(name)
  } catch (error) {
    if (error instanceof SourceError) return null
    throw error
  }
}

/**
 * Whether GDAL 3.6 leaves the axes of a GML as they are in the file although northing comes first: it looks at
 * those of a projected CRS, but not if that is a part of a compound one.
 */
export function isLeftInFileOrder(srsName: string): boolean {
  const hasAuthorityOrder = /^(urn:|https?:\/\/www\.opengis\.net\/def\/crs)/i.test(srsName)
  return hasAuthorityOrder && isCompoundCrs(srsName) && axisOrder(srsName) === 'northing-first'
}
