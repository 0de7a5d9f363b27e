import type { Column } from '../feature.ts'

const EXACT = ['name', 'title', 'label', 'display_name', 'full_name', 'placename', 'place']

/**
 * The index of the column that labels a feature on a map, or -1: a text column with one of the usual names,
 * in that order; otherwise the first text column whose name begins or ends with `name`.
 */
export function nameColumn(columns: readonly Column[]): number {
  const names = columns.map((column) => (column.type === 'text' ? column.name.toLowerCase() : ''))
  for (const exact of EXACT) {
    const index = names.indexOf(exact)
    if (index >= 0) return index
  }
  return names.findIndex((name) => /^name|name$/.test(name))
}
