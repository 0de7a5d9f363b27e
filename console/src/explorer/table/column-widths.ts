import type { Feature } from '@wayleave/client'
import { cellText } from '../../datasets/cell-text.ts'

const MIN_CHARACTERS = 5
const MAX_CHARACTERS = 34

/** The width of each column in characters, from its name and its first values: it stays while rows are scrolled. */
export function columnWidths(
  names: readonly string[],
  rows: readonly Feature[],
  types: ReadonlyMap<string, string>,
): number[] {
  return names.map((name) => {
    const texts = rows
      .slice(0, 60)
      .map(({ properties }) => cellText(properties[name], types.get(name)).length)
    const longest = Math.max(name.length + 6, ...texts)
    return Math.max(MIN_CHARACTERS, Math.min(MAX_CHARACTERS, longest))
  })
}
