import type { ListedDataset } from './dataset.ts'

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
  datasets: readonly ListedDataset[],
  { q, keyword, limit = Number.MAX_SAFE_INTEGER, after }: DatasetSearch,
): { page: ListedDataset[]; next: string | null } {
  const words = foldText(q ?? '')
    .split(/\s+/)
    .filter(Boolean)
  const foldedKeyword = keyword === undefined ? undefined : foldText(keyword)
  const page: ListedDataset[] = []
  for (const dataset of datasets) {
    if (after !== undefined && dataset.table <= after) continue
    if (foldedKeyword !== undefined && !foldedTexts(dataset).keywords.includes(foldedKeyword)) continue
    if (!words.every((word) => foldedTexts(dataset).text.includes(word))) continue
    if (page.length === limit) return { page, next: page.at(-1)!.table }
    page.push(dataset)
  }
  return { page, next: null }
}

interface FoldedTexts {
  text: string
  keywords: string[]
}

/** Folded once for each state of a dataset. */
const folded = new WeakMap<ListedDataset, FoldedTexts>()

function foldedTexts(dataset: ListedDataset): FoldedTexts {
  let texts = folded.get(dataset)
  if (texts === undefined) {
    const { table, title, description, keywords, attribution } = dataset
    texts = {
      text: foldText([table, title, description, ...keywords, attribution].join('\n')),
      keywords: keywords.map(foldText),
    }
    folded.set(dataset, texts)
  }
  return texts
}

/** Without case and accents. */
export function foldText(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
