import type { DatasetDetails } from '@wayleave/contract/records'

/** A dataset's description as entered in the form: every value is a text. */
export interface Description {
  title: string
  description: string
  license: string
  attribution: string
  contact: string
  citation: string
  updateFrequency: string
  keywords: string
  credits: string
}

export const NO_DESCRIPTION: Description = {
  title: '',
  description: '',
  license: '',
  attribution: '',
  contact: '',
  citation: '',
  updateFrequency: '',
  keywords: '',
  credits: '',
}

export function descriptionOf(dataset: Omit<DatasetDetails, 'statistics' | 'access'>): Description {
  const { title, description, license, attribution, contact, citation, updateFrequency } = dataset
  return {
    ...{ title, description, license, attribution, contact, citation, updateFrequency },
    keywords: dataset.keywords.join(', '),
    credits: String(dataset.credits),
  }
}

/** Notes on columns as entered in the form. */
export type ColumnNotes = Record<string, { title: string; description: string; unit: string }>

/** The columns that something is said about. */
export function writtenNotes(notes: ColumnNotes): ColumnNotes {
  return Object.fromEntries(
    Object.entries(notes).filter(([, note]) => Object.values(note).some((text) => text !== '')),
  )
}

export function columnNotesOf({ columns }: Pick<DatasetDetails, 'columns'>): ColumnNotes {
  return Object.fromEntries(
    columns.map(({ name, title = '', description = '', unit = '' }) => [name, { title, description, unit }]),
  )
}
