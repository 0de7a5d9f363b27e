/** What each add-on of an organization unlocks, as the console shows it. */
export const ADD_ON_MEANINGS = {
  API_ACCESS: 'Downloads of datasets.',
  GIS_ACCESS: 'Features for maps and GIS programs.',
  ARCHIVED_DATA: 'Downloads of older versions.',
} as const

/** What people call the add-ons; programs use the codes. */
export const ADD_ON_NAMES: Record<AddOn, string> = {
  API_ACCESS: 'File downloads',
  GIS_ACCESS: 'Maps and GIS',
  ARCHIVED_DATA: 'Older versions',
}

export type AddOn = keyof typeof ADD_ON_MEANINGS

export const ADD_ONS = Object.keys(ADD_ON_MEANINGS) as readonly AddOn[]
