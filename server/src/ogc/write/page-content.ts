import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import type { Dataset } from '../../catalog/dataset.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import type { FeatureBlock } from '../select/read-selected.ts'
import type { Link } from './links.ts'

/** What there is to say about a page beside its features. */
export interface PageHead {
  links: readonly Link[]
  returned: number
  /** Null where it is not cheap to know. */
  matched: number | null
  timeStamp: string
}

/** A page that is written in another form than the pack has. */
export interface PageContent {
  dataset: Dataset
  /** Of the version that is read, which may be an older one than the dataset's. */
  manifest: Manifest
  /** The folder of its snapshot. */
  folder: string
  base: string
  query: ItemsQuery
  head: PageHead
  block: FeatureBlock
}

export type WritePage = (content: PageContent) => Promise<Buffer>
