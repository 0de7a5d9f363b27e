import { CATEGORIES, PALETTES } from '@wayleave/contract/map-style'
import type { Theme } from '../../theme.ts'
import { OTHERS } from './chart-data.ts'

/** The color of bars and points without parts: the one of features on the map. */
export const dataColor = (theme: Theme): string => PALETTES[theme].data

/** The color of each part of a chart. */
export function partColors(parts: readonly string[], theme: Theme): string[] {
  const colors = CATEGORIES[theme]
  return parts.map((part, index) => (part === OTHERS ? PALETTES[theme].none : colors[index % colors.length]!))
}
