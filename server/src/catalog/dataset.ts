import type { Manifest } from '@wayleave/geodata/snapshot'

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
}

/** The current state of a dataset: the publisher's description and the version that is served. */
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

/** The publisher's description of a dataset. Fields that are left out keep their values. */
export interface DatasetDescription {
  title?: string
  description?: string
  license?: string
  attribution?: string
  keywords?: string[]
  credits?: number
}
