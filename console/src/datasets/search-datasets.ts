import type { Dataset } from '@wayleave/client'
import { plainText } from '../words.ts'

/** Datasets whose metadata, including the column names, contains every word of the search. */
export function searchDatasets(datasets: readonly Dataset[], search: string): Dataset[] {
  const words = plainText(search).split(/\s+/).filter(Boolean)
  return datasets.filter((dataset) => {
    const { table, title, description, license, attribution, keywords, columns } = dataset
    const names = columns.map(({ name }) => name)
    const text = plainText([table, title, description, license, attribution, ...keywords, ...names].join(' '))
    return words.every((word) => text.includes(word))
  })
}
