import type { Theme } from '../../theme.ts'
import { CATEGORIES, PALETTES, SEQUENCE } from './map-palette.ts'

type Scalar = string | number | boolean

/** How a column colors or sizes the map's features. */
export type Scale = (QuantileScale | CategoryScale) & {
  column: string
  /** The rows that the classes are made from. */
  rows: 'filtered' | 'all'
  /** Whether some of these rows have no value. */
  hasNulls: boolean
}

/** Classes of equal counts: class i begins at `breaks[i - 1]`. */
interface QuantileScale {
  kind: 'quantiles'
  breaks: number[]
  min: number
  max: number
  isInteger: boolean
}

/** The most frequent values, each with the index of its color; all others look alike. */
interface CategoryScale {
  kind: 'categories'
  values: Scalar[]
  colors: number[]
  hasOthers: boolean
}

export interface LegendEntry {
  label: string
  color: string
  /** Whether it says what has no color of its own. */
  isRest?: boolean
}

function colorOf(scale: Scale, index: number, theme: Theme): string {
  if (scale.kind === 'categories') return CATEGORIES[theme][scale.colors[index]!] ?? PALETTES[theme].none
  const colors = SEQUENCE[theme]
  const classes = scale.breaks.length + 1
  return colors[classes === 1 ? 2 : Math.round((index * (colors.length - 1)) / (classes - 1))]!
}

/**
 * The colors of values among the rows that match a filter, as indices. A value that has a color without the filter
 * keeps it; the others get the colors that are left.
 */
export function keepColors(values: readonly unknown[], wholeValues: readonly unknown[]): number[] {
  const whole = wholeValues.map(String)
  const kept = values.map((value) => whole.indexOf(String(value)))
  const free = CATEGORIES.light.map((_, index) => index).filter((index) => !kept.includes(index))
  return kept.map((index) => (index === -1 ? free.shift()! : index))
}

/** A MapLibre expression for the color of a feature. */
export function colorExpression(scale: Scale, theme: Theme): unknown {
  const value = ['get', scale.column]
  const { none } = PALETTES[theme]
  if (scale.kind === 'categories') {
    if (scale.values.length === 0) return none
    // Tiles hold booleans and numbers as such; as texts all of them can be compared. No value would be an empty text.
    const pairs = scale.values.flatMap((item, index) => [String(item), colorOf(scale, index, theme)])
    return ['case', ['has', scale.column], ['match', ['to-string', value], ...pairs, none], none]
  }
  const steps = scale.breaks.flatMap((at, index) => [at, colorOf(scale, index + 1, theme)])
  const number = ['to-number', value, 0]
  const graduated = steps.length
    ? ['step', number, colorOf(scale, 0, theme), ...steps]
    : colorOf(scale, 0, theme)
  return ['case', ['has', scale.column], graduated, none]
}

/** The factor by which a point is larger than the smallest class. */
export function sizeExpression(scale: Scale): unknown {
  if (scale.kind === 'categories') return 1
  const steps = scale.breaks.flatMap((at, index) => [at, sizeOf(index + 1)])
  const number = ['to-number', ['get', scale.column], 0]
  const graduated = steps.length ? ['step', number, sizeOf(0), ...steps] : 1
  return ['case', ['has', scale.column], graduated, sizeOf(0)]
}

export function sizeOf(index: number): number {
  return 0.7 + index * 0.55
}

/** The classes of a scale in words, each with its color. */
export function legendOf(scale: Scale, theme: Theme, format: (value: number) => string): LegendEntry[] {
  const { none } = PALETTES[theme]
  const hasOthers = scale.kind === 'categories' && scale.hasOthers
  const uncolored = [...(hasOthers ? ['others'] : []), ...(scale.hasNulls ? ['no value'] : [])].join(', ')
  const rest = uncolored === '' ? [] : [{ label: uncolored, color: none, isRest: true }]
  if (scale.kind === 'categories') {
    const entries = scale.values.map((item, index) => ({
      label: item === '' ? 'empty' : String(item),
      color: colorOf(scale, index, theme),
    }))
    return [...entries, ...rest]
  }
  const edges = [scale.min, ...scale.breaks, scale.max]
  const classes = edges.slice(1).map((to, index) => {
    const from = edges[index]!
    // A class ends before the next one begins; only the last one includes its end.
    const end = scale.isInteger && index < edges.length - 2 ? to - 1 : to
    const label = from === end ? format(from) : `${format(from)} – ${format(end)}`
    return { label, color: colorOf(scale, index, theme) }
  })
  return [...classes, ...rest]
}
