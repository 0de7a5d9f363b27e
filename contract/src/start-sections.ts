/** The sections of the start page, in their usual order. */
export const START_SECTIONS = ['counts', 'featured', 'topics', 'recent', 'key', 'developers'] as const
export type StartSection = (typeof START_SECTIONS)[number]

/** The sections that have a title. */
export const TITLED_SECTIONS = ['featured', 'topics', 'recent', 'key', 'developers'] as const
export type TitledSection = (typeof TITLED_SECTIONS)[number]
