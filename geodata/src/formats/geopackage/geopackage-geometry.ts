import type { Geometry } from '../../feature.ts'
import { readWkb } from '../../geometry/wkb.ts'
import { SourceError } from '../../source-error.ts'

/** The size of the envelope in bytes, by its indicator in the flags: none, XY, XYZ, XYM, XYZM. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64]

/** Reads a GeoPackage geometry: a GeoPackage header (GeoPackage 1.3, 2.1.3), then ISO WKB. */
export function readGeopackageGeometry(bytes: Uint8Array): Geometry {
  if (bytes.length < 8 || bytes[0] !== 0x47 || bytes[1] !== 0x50)
    throw new SourceError('the geometry is not a GeoPackage geometry')
  const flags = bytes[3]!
  if (flags & 0x20) throw new SourceError('the geometry is of an extended type that only its maker knows')
  const envelope = ENVELOPE_BYTES[(flags >> 1) & 7]
  if (envelope === undefined) throw new SourceError('the geometry has an unknown kind of envelope')
  return readWkb(bytes, 8 + envelope)
}
