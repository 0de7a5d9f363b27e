import type { Manifest } from '../../snapshot/manifest.ts'

/** A new version that is made from the version before and a file with changes. */
export interface Revision {
  /** `append` adds features; `update` adds those whose ids are new and replaces the others. */
  mode: 'append' | 'update'
  /** For an update: remove features whose ids the file does not have. */
  deleteMissing?: boolean
  /** The version before: the paths of its rows and, if ids are row numbers, of its ids. */
  before: {
    rows: string
    ids: string | null
    manifest: Pick<Manifest, 'columns' | 'id' | 'geometryType' | 'timeColumn'>
  }
}

/** What a revision has changed, in features. */
export interface RevisionCounts {
  added: number
  updated: number
  removed: number
}
