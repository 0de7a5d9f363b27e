import type { ExtractPrice } from '@wayleave/contract/extract-prices'
import type { UpdateFrequency } from '@wayleave/contract/update-frequencies'
import type { Visibility } from '@wayleave/contract/visibilities'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { ColumnNotes, StoredNotes } from './column-notes.ts'

const TABLE = /^[a-z][a-z0-9_]{0,62}$/

export function isTable(text: string): boolean {
  return TABLE.test(text)
}

/** One published state of a dataset. Version numbers of a table only increase and are never reused. */
export interface Version {
  table: string
  version: number
  snapshot: string
  createdAt: string
  manifest: Manifest
  hasSample: boolean
  /** What the publisher says about this version; may be empty. */
  note: string
  /** How it differs from the version before; null if that is not known, or if there are no ids to compare by. */
  changes: VersionChanges | null
}

/** How many features were added, removed and changed since the version `from`. */
export interface VersionChanges {
  from: number
  added: number
  removed: number
  changed: number
}

/**
 * What lists, searches and documents about all datasets need of a manifest. It is stored beside the manifest, and
 * is small enough to hold that of every dataset in memory.
 */
export type ManifestSummary = Omit<Manifest, 'statistics' | 'notes' | 'source' | 'files'> & {
  source: Pick<Manifest['source'], 'crs'>
  files: { [name: string]: { bytes: number } }
}

/** A version as lists have it. */
export type ListedVersion = Omit<Version, 'manifest'> & { manifest: ManifestSummary }

/** The current state of a dataset: the publisher's description and the version that is served. */
export interface Dataset extends Version {
  title: string
  description: string
  license: string
  attribution: string
  contact: string
  citation: string
  updateFrequency: UpdateFrequency
  keywords: string[]
  columnNotes: StoredNotes
  credits: number
  /** What a file of filtered rows costs; null for what the settings say. */
  extractPrice: ExtractPrice | null
  visibility: Visibility
  /** The organization that publishes it; null for the operator. */
  owner: { organizationId: string; name: string } | null
  /** When the dataset was last published or its description changed. */
  updatedAt: string
}

/** What decides whether and how a dataset may be changed. */
export type DatasetState = Pick<Dataset, 'version' | 'visibility'> & {
  owner: { organizationId: string } | null
}

/** A dataset as lists have it. */
export type ListedDataset = Omit<Dataset, 'manifest'> & { manifest: ManifestSummary }

export function summaryOf(manifest: Manifest): ManifestSummary {
  const { statistics: _statistics, notes: _notes, source, files, ...summary } = manifest
  const sizes = Object.entries(files).map(([name, { bytes }]) => [name, { bytes }])
  return { ...summary, source: { crs: source.crs }, files: Object.fromEntries(sizes) }
}

/** The publisher's description of a dataset. Fields that are left out keep their values. */
export interface DatasetDescription {
  title?: string
  description?: string
  license?: string
  attribution?: string
  contact?: string
  citation?: string
  updateFrequency?: UpdateFrequency
  keywords?: string[]
  /** Replaces the notes on all columns. */
  columnNotes?: ColumnNotes
  credits?: number
  /** Null: what the settings say. */
  extractPrice?: ExtractPrice | null
  visibility?: Visibility
}
