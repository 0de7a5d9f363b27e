import { CATEGORIES, PALETTES } from '@wayleave/contract/map-style'
import type { Theme } from '../../theme.ts'
import { type ChartData, OTHERS } from './chart-data.ts'

/** The color of bars and points without parts: the one of features on the map. */
export const dataColor = (theme: Theme): string => PALETTES[theme].data

/** The color of the groups and parts that collect the rest. */
export const othersColor = (theme: Theme): string => PALETTES[theme].none

/** The line of the median in a box. */
export const medianColor = (theme: Theme): string => (theme === 'light' ? '#1c2321' : '#e6ece9')

/** The color of each part of a chart. */
export function partColors({ parts, colors }: ChartData, theme: Theme): string[] {
  const all = CATEGORIES[theme]
  return parts.map((part, index) =>
    part === OTHERS ? othersColor(theme) : all[colors[index]! % all.length]!,
  )
}
