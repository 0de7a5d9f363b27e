import type { Dataset } from './dataset.ts'

export interface DatasetSearch {
  /** Words that must all occur in the dataset's texts, in any case, with or without accents. */
  q?: string
  keyword?: string
  limit?: number
  /** Datasets whose table names follow this one. */
  after?: string
}

/** Selects datasets, which are in the order of their table names, and tells whether there are more. */
export function searchDatasets(
  datasets: readonly Dataset[],
  { q, keyword, limit = Number.MAX_SAFE_INTEGER, after }: DatasetSearch,
): { page: Dataset[]; next: string | null } {
  const words = foldText(q ?? '')
    .split(/\s+/)
    .filter(Boolean)
  const wanted = keyword === undefined ? undefined : foldText(keyword)
  const page: Dataset[] = []
  for (const dataset of datasets) {
    if (after !== undefined && dataset.table <= after) continue
    if (wanted !== undefined && !dataset.keywords.some((one) => foldText(one) === wanted)) continue
    if (words.length > 0) {
      const text = searchText(dataset)
      if (!words.every((word) => text.includes(word))) continue
    }
    if (page.length === limit) return { page, next: page.at(-1)!.table }
    page.push(dataset)
  }
  return { page, next: null }
}

/** Folded once for each state of a dataset. */
const searchTexts = new WeakMap<Dataset, string>()

function searchText(dataset: Dataset): string {
  let text = searchTexts.get(dataset)
  if (text === undefined) {
    const { table, title, description, keywords, attribution } = dataset
    text = foldText([table, title, description, ...keywords, attribution].join('\n'))
    searchTexts.set(dataset, text)
  }
  return text
}

function foldText(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
