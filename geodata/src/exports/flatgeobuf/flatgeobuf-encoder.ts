import { FeatureSlices, type PackBlock } from '../../pack/pack-reader.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import type { EncodeWork } from '../encoding/encode-work.ts'
import { type EncodedFeatures, FeatureBatch, type FeatureEncoder } from '../encoding/feature-batch.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import { layerType } from '../geometry/layer-type.ts'
import { featureBound, putFeature } from './feature-encoder.ts'
import { columnCode, putProperties } from './properties.ts'

export class FlatgeobufEncoder implements FeatureEncoder {
  readonly #batch = new FeatureBatch()
  readonly #slices = new FeatureSlices()
  readonly #geometry = new FlatGeometry()
  readonly #values: RowSlices
  readonly #codes: number[]
  readonly #multi: boolean
  readonly #hasZ: boolean

  constructor({ manifest, sizes }: EncodeWork) {
    this.#values = new RowSlices(manifest)
    this.#codes = exportColumns(manifest).map((column, c) => columnCode(column, sizes[c] ?? null))
    this.#multi = layerType(manifest).multi
    this.#hasZ = manifest.hasZ
  }

  encode({ bytes, count, starts, ends }: PackBlock): EncodedFeatures {
    const batch = this.#batch
    const slices = this.#slices
    const geometry = this.#geometry
    const values = this.#values
    const codes = this.#codes
    batch.begin(count)
    for (let i = 0; i < count; i++) {
      slices.locateId(bytes, starts[i]!)
      const isLocated = geometry.read(bytes, slices.geometryStart)
      slices.locateProperties(bytes, geometry.end, ends[i]!)
      values.locateRow(bytes, slices)
      if (this.#multi) geometry.promote()
      // A value grows most if it is a single digit, which becomes eight bytes with a prefix of six.
      const properties = slices.propertiesEnd - slices.propertiesStart
      const room = (properties + slices.idEnd - slices.idStart) * 2 + codes.length * 16
      batch.reserve(room + (isLocated ? featureBound(geometry) : 0) + 256)
      putFeature(batch, isLocated ? geometry : null, this.#hasZ, (at) =>
        putProperties(batch, at, bytes, values, codes),
      )
      batch.end(geometry)
    }
    return batch.finish()
  }
}
