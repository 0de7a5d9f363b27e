import type { Manifest } from '@wayleave/geodata/snapshot'
import type { Dataset } from '../../catalog/dataset.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import type { FeatureBlock } from '../select/read-selected.ts'
import type { Link } from './links.ts'

/** The data about a page besides its features. */
export interface PageHead {
  links: readonly Link[]
  returned: number
  /** Null if it is not cheap to determine. */
  matched: number | null
  timeStamp: string
}

/** A page that is written in another form than that of the pack. */
export interface PageContent {
  dataset: Dataset
  /** The manifest of the version that is read, which may be older than the dataset's current version. */
  manifest: Manifest
  /** The folder of that version's snapshot. */
  folder: string
  base: string
  query: ItemsQuery
  head: PageHead
  block: FeatureBlock
  /** For CSV: put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas: boolean
}

export type WritePage = (content: PageContent) => Promise<Buffer>
