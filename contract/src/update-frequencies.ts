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

/** How often that is, as people say it. */
export const UPDATE_WORDS: Readonly<Record<string, string>> = {
  continuous: 'All the time',
  daily: 'Every day',
  weekly: 'Every week',
  monthly: 'Every month',
  quarterly: 'Every quarter',
  biannual: 'Twice a year',
  annual: 'Every year',
  irregular: 'Irregularly',
  never: 'Not updated any more',
}
