import type { DatasetAccess, Visibility } from '@wayleave/contract/visibilities'

/** The names of visibilities, and what each means for the people who see the dataset. */
export const VISIBILITY_WORDS: Record<Visibility, { name: string; meaning: string }> = {
  public: {
    name: 'Public',
    meaning: 'Everybody sees it and a free sample. The data is for organizations with the add-on.',
  },
  open: {
    name: 'Open data',
    meaning: 'Everybody sees it and gets all of its data, free and without signing in.',
  },
  private: {
    name: 'Private',
    meaning: 'Only the organizations below see it. For everybody else it does not exist.',
  },
  draft: { name: 'Draft', meaning: 'Only its publishers see it, until you choose something else.' },
}

export const ACCESS_WORDS: Record<DatasetAccess, string> = {
  features: 'Read and filter its rows',
  tiles: 'Show it on maps',
  downloads: 'Download the current version',
  archives: 'Download older versions',
}
