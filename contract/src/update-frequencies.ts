/** How often a dataset is updated; an empty text if that is not stated. */
export const UPDATE_FREQUENCIES = [
  '',
  'continuous',
  'daily',
  'weekly',
  'monthly',
  'quarterly',
  'biannual',
  'annual',
  'irregular',
  'never',
] as const

export type UpdateFrequency = (typeof UPDATE_FREQUENCIES)[number]
