import type { Dataset } from '@wayleave/client'
import { plainText } from '../words.ts'

/** Datasets whose metadata, including the column names, contains every word of the search. */
export function searchDatasets(datasets: readonly Dataset[], search: string): Dataset[] {
  const words = plainText(search).split(/\s+/).filter(Boolean)
  return datasets.filter((dataset) => {
    const text = plainText(searchedText(dataset))
    return words.every((word) => text.includes(word))
  })
}

/** Everything that a search in a dataset's metadata looks at. */
export function searchedText(dataset: Dataset): string {
  const { table, title, description, license, attribution, keywords, columns } = dataset
  const names = columns.map(({ name }) => name)
  return [table, title, description, license, attribution, ...keywords, ...names].join(' ')
}
