/** Who sees a dataset and who gets its data, as the console shows it. */
export const VISIBILITY_MEANINGS = {
  public: 'Everybody sees it. Its data needs a key, and an add-on or a grant.',
  open: 'Everybody sees it and gets its data, without a key and for free.',
  private: 'Only organizations that were given access see it.',
  draft: 'Only its publishers and administrators see it.',
} as const

export type Visibility = keyof typeof VISIBILITY_MEANINGS

export const VISIBILITIES = Object.keys(VISIBILITY_MEANINGS) as readonly Visibility[]

/** What a grant on a dataset can be limited to. Without `archives`, it opens the current version only. */
export const DATASET_ACCESS_MEANINGS = {
  features: 'Read features in maps and GIS programs.',
  tiles: 'Show it on maps.',
  downloads: 'Download the current version.',
  archives: 'Download older versions.',
} as const

export type DatasetAccess = keyof typeof DATASET_ACCESS_MEANINGS

export const DATASET_ACCESS = Object.keys(DATASET_ACCESS_MEANINGS) as readonly DatasetAccess[]
