import type { Column } from '../feature.ts'

/** Members that rows of csv and json have in addition to the columns of a spatial dataset. */
const PLACE_NAMES = ['longitude', 'latitude']

/**
 * The names of the columns in csv and json rows. Only there do `longitude` and `latitude` hold the coordinates,
 * so a column of that name gets a suffix there and keeps its name in all other formats.
 */
export function rowNames(
  columns: readonly Column[],
  spatial: boolean,
  places: string[] = PLACE_NAMES,
): string[] {
  const names = columns.map(({ name }) => name)
  if (!spatial) return names
  const usedNames = new Set(names.map((name) => name.toLowerCase()))
  return names.map((name) => {
    if (!places.includes(name.toLowerCase())) return name
    let n = 1
    while (usedNames.has(`${name}_${n}`.toLowerCase())) n++
    usedNames.add(`${name}_${n}`.toLowerCase())
    return `${name}_${n}`
  })
}

/** Whether rows have other names than the columns. */
export function hasRenamedRows(columns: readonly Column[], spatial: boolean): boolean {
  return rowNames(columns, spatial).some((name, i) => name !== columns[i]!.name)
}
