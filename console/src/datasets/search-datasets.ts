import type { Dataset } from '@wayleave/client'

/** Datasets whose metadata, including the column names, contains every word of the search. */
export function searchDatasets(datasets: readonly Dataset[], search: string): Dataset[] {
  const words = plain(search).split(/\s+/).filter(Boolean)
  return datasets.filter((dataset) => {
    const { table, title, description, license, attribution, keywords, columns } = dataset
    const names = columns.map(({ name }) => name)
    const text = plain([table, title, description, license, attribution, ...keywords, ...names].join(' '))
    return words.every((word) => text.includes(word))
  })
}

/** Removes case and accents, so that "zurich" matches Zürich. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
