import type { Manifest } from '../../snapshot/manifest.ts'
import type { IntegerSize } from '../integer-ranges.ts'

/** What encoders need to know; it can be sent to another thread. */
export interface EncodeWork {
  folder: string
  manifest: Manifest
  format: 'kml' | 'gpkg' | 'fgb'
  table: string
  /** By the places of `exportColumns`. */
  sizes: (IntegerSize | null)[]
}
