import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'

const TABLE = /^[a-z][a-z0-9_]{0,62}$/

export function isTable(text: string): boolean {
  return TABLE.test(text)
}

/** One published state of a dataset. Numbers of one table only grow, and are never used again. */
export interface Version {
  table: string
  version: number
  snapshot: string
  createdAt: string
  manifest: Manifest
  hasSample: boolean
}

/** A dataset as it is now: what the publisher says of it, and the version that is served. */
export interface Dataset extends Version {
  title: string
  description: string
  license: string
  attribution: string
  keywords: string[]
  credits: number
  /** When the dataset was last published or its description changed. */
  updatedAt: string
}

/** What the publisher says of a dataset; what is left out keeps its value. */
export interface DatasetDescription {
  title?: string
  description?: string
  license?: string
  attribution?: string
  keywords?: string[]
  credits?: number
}
