import type { FeatureSlices } from '../pack/pack-reader.ts'
import { PropertySlices } from '../pack/property-slices.ts'
import { idColumn } from './feature-ids.ts'
import type { Manifest } from './manifest.ts'

const BACKSLASH = 0x5c

/** The byte ranges of one feature's values in the order of `exportColumns`: the id, if it is a column, first. */
export class RowSlices extends PropertySlices {
  readonly #hasId: boolean

  constructor(manifest: Pick<Manifest, 'columns' | 'id'>) {
    const hasId = idColumn(manifest) !== null
    super(manifest.columns, hasId ? 1 : 0)
    this.#hasId = hasId
  }

  locateRow(bytes: Buffer, feature: FeatureSlices): void {
    this.locate(bytes, feature.propertiesStart, feature.propertiesEnd)
    if (!this.#hasId) return
    const { idStart, idEnd } = feature
    this.starts[0] = idStart
    this.ends[0] = idEnd
    let escaped = 0
    for (let p = idStart; p < idEnd; p++) if (bytes[p] === BACKSLASH) escaped = 1
    this.escaped[0] = escaped
  }
}
