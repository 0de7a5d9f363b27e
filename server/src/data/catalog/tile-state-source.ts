import type { DatasetRecord } from '@wayleave/contract/records'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { ListedVersion } from './dataset.ts'

/** What the metadata needs to know of vector tiles, which are built by `ogc/tiles`. */
export interface TileStateSource {
  /** Null for a version that has no tiles. */
  stateOf(version: ListedVersion): MaybePromise<DatasetRecord['tiles']>
}
