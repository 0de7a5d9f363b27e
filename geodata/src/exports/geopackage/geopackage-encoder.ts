import { FeatureSlices, type PackBlock } from '../../pack/pack-reader.ts'
import { exportColumns, hasIntegerIds } from '../../snapshot/feature-ids.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import type { EncodeWork } from '../encoding/encode-work.ts'
import { type EncodedFeatures, FeatureBatch, type FeatureEncoder } from '../encoding/feature-batch.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import { parseNumber } from '../geometry/geometry-bytes.ts'
import { layerType } from '../geometry/layer-type.ts'
import { geometryBlobBound, putGeometryBlob } from './geometry-blob.ts'
import { RowEncoder } from './row-encoder.ts'
import { SqliteRecord } from './sqlite/record.ts'

/** The records of the table's rows. */
export class GeopackageEncoder implements FeatureEncoder {
  readonly #batch = new FeatureBatch()
  readonly #slices = new FeatureSlices()
  readonly #geometry = new FlatGeometry()
  readonly #values: RowSlices
  readonly #row: RowEncoder
  readonly #record: SqliteRecord
  readonly #hasGeometry: boolean
  readonly #hasIds: boolean
  readonly #hasZ: boolean
  readonly #multi: boolean

  constructor({ manifest, sizes }: EncodeWork) {
    const columns = exportColumns(manifest)
    this.#values = new RowSlices(manifest)
    this.#hasZ = manifest.hasZ
    this.#row = new RowEncoder(columns, sizes)
    this.#hasGeometry = manifest.geometryType !== null
    this.#hasIds = hasIntegerIds(manifest)
    this.#multi = layerType(manifest).multi
    this.#record = new SqliteRecord(columns.length + (this.#hasGeometry ? 2 : 1))
  }

  encode({ bytes, count, starts, ends }: PackBlock): EncodedFeatures {
    const batch = this.#batch
    const slices = this.#slices
    const geometry = this.#geometry
    const record = this.#record
    batch.begin(count)
    for (let i = 0; i < count; i++) {
      slices.locateId(bytes, starts[i]!)
      const isLocated = geometry.read(bytes, slices.geometryStart)
      slices.locateProperties(bytes, geometry.end, ends[i]!)
      this.#values.locateRow(bytes, slices)
      record.begin()
      // The row id is the key of the row.
      record.null()
      if (this.#hasGeometry) {
        if (this.#multi) geometry.promote()
        if (geometry.code === 0) record.null()
        else
          record.blob(geometryBlobBound(geometry), (view, at) =>
            putGeometryBlob(geometry, !isLocated, this.#hasZ, view, at),
          )
      }
      this.#row.put(record, bytes, this.#values)
      record.finish()
      batch.reserve(record.end - record.start)
      batch.at += record.buffer.copy(batch.buffer, batch.at, record.start, record.end)
      batch.end(geometry, this.#hasIds ? parseNumber(bytes, slices.idStart, slices.idEnd) : 0)
    }
    return batch.finish()
  }
}
