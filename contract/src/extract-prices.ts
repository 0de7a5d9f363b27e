/** What a file of filtered rows costs: its share of the price of a download, nothing, or that price. */
export const EXTRACT_PRICES = ['share', 'free', 'whole'] as const

export type ExtractPrice = (typeof EXTRACT_PRICES)[number]
