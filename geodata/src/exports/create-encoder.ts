import type { EncodeWork } from './encoding/encode-work.ts'
import type { FeatureEncoder } from './encoding/feature-batch.ts'

export async function createEncoder(work: EncodeWork): Promise<FeatureEncoder> {
  switch (work.format) {
    case 'kml':
      return new (await import('./kml/kml-encoder.ts')).KmlEncoder(work)
    case 'gpkg':
      return new (await import('./geopackage/geopackage-encoder.ts')).GeopackageEncoder(work)
    case 'fgb':
      return new (await import('./flatgeobuf/flatgeobuf-encoder.ts')).FlatgeobufEncoder(work)
  }
}
