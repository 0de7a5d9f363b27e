import type { Manifest } from '@wayleave/geodata/snapshot'
import type { FeatureBlock, TimedWork } from '@wayleave/query'
import type { Dataset } from '../../data/catalog/dataset.ts'
import type { About } from '../../http/about.ts'
import type { ItemsQuery } from '../request/items-query.ts'
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
  about: About
  query: ItemsQuery
  /** The data about the page, if it returns this many features. */
  head: (returned: number) => PageHead
  block: FeatureBlock
  /** For CSV: put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas: boolean
  work: TimedWork
  /** The time at which no further feature is written, as of `performance.now()`. */
  until: number
}

/** A page, and the number of features that it has: fewer than the block if there was not enough time. */
export interface WrittenPage {
  body: Buffer
  returned: number
}

export type WritePage = (content: PageContent) => Promise<WrittenPage>
