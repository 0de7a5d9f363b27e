import type { Classing, MapLook } from './map-look.ts'
import { CATEGORIES, PALETTES, rampColor, rampColors, type Theme } from './ramps.ts'

type Scalar = string | number | boolean

/** How a column colors or sizes the features of a map. */
export type Scale = (NumberScale | CategoryScale) & {
  column: string
  /** The rows that the classes are made from. */
  rows: 'filtered' | 'all'
  /** The number of these rows without a value; null if it is unknown. */
  nulls: number | null
}

export interface NumberScale {
  kind: 'numbers'
  /** Whether each number has a color of its own between the ends. Otherwise class i begins at `breaks[i - 1]`. */
  isContinuous: boolean
  breaks: number[]
  min: number
  max: number
  isInteger: boolean
  /** Whether most values are near the smallest one, as populations are: sizes then grow by the square root. */
  isSkewed: boolean
  /** The number of rows of each class, if they are known. */
  counts: number[] | null
}

/** The most frequent values, each with the index of its color; all others look alike. */
export interface CategoryScale {
  kind: 'categories'
  values: Scalar[]
  colors: number[]
  /** The number of rows of each value, and of all others, if they are known. */
  counts: number[] | null
  others: number | null
}

export interface LegendEntry {
  label: string
  color: string
  /** The number of rows; null if it is unknown. */
  count: number | null
  /** The value of a category, whose color can be chosen. */
  value?: string
  /** The index of the class or of the value in the scale. */
  index?: number
  /** Whether it says what has no color of its own. */
  isRest?: boolean
  /** Whether it stands for the rows without a value. */
  isNull?: boolean
}

/** What is known of the numbers of a column: the extremes, and the values at each fifth of the rows. */
export interface NumberSummary {
  min: number
  max: number
  fifths: readonly number[]
}

export const FIFTHS: readonly number[] = [20, 40, 60, 80]
const EQUAL_CLASSES = 5
/** If the middle of the rows is below this share of the range, the values are skewed. */
const SKEWED_SHARE = 0.05

/** Divides numbers as it is asked for. */
export function numberScale(
  { min, max, fifths }: NumberSummary,
  classing: Classing,
  isInteger: boolean,
): NumberScale {
  // In a column of integers a class begins at an integer, which has the same members.
  const at = (value: number) => (isInteger ? Math.ceil(value) : value)
  const classes = (values: readonly number[]) => [...new Set(values.map(at))].filter((one) => one > min)
  const range = max - min
  const equal = Array.from({ length: EQUAL_CLASSES - 1 }, (_, i) => min + (range * (i + 1)) / EQUAL_CLASSES)
  const breaks =
    classing.kind === 'breaks'
      ? classing.at
      : { continuous: [], quantiles: classes(fifths), equal: classes(equal) }[classing.kind]
  const middle = ((fifths[1] ?? min) + (fifths[2] ?? max)) / 2
  const isSkewed = min >= 0 && range > 0 && (middle - min) / range < SKEWED_SHARE
  const isContinuous = classing.kind === 'continuous' && range > 0
  return { kind: 'numbers', isContinuous, breaks, min, max, isInteger, isSkewed, counts: null }
}

/**
 * Divides the numbers of features of cells. Most cells have few and some have hundreds of times as many, so the classes
 * grow by a factor unless others are asked for: equal counts of cells would put all of the full ones into one class.
 */
export function countScale(summary: NumberSummary, classing: Classing): NumberScale {
  const { min, max } = summary
  if (classing.kind !== 'quantiles') return numberScale(summary, classing, true)
  const ends = Array.from({ length: EQUAL_CLASSES - 1 }, (_, i) =>
    Math.ceil(min * (max / min) ** ((i + 1) / EQUAL_CLASSES) - 1e-9),
  )
  const at = [...new Set(ends)].filter((end) => end > min)
  return numberScale(summary, { kind: 'breaks', at }, true)
}

/** The look of colors: the parts of `MapLook` that they need. */
export type ColorLook = Pick<MapLook, 'ramp' | 'isReversed' | 'colors'>

function classColor({ breaks }: NumberScale, index: number, look: ColorLook, theme: Theme): string {
  const share = breaks.length === 0 ? 0.5 : index / breaks.length
  return rampColor(rampColors(look.ramp, theme, look.isReversed), share)
}

function categoryColor(
  { values, colors }: CategoryScale,
  index: number,
  look: ColorLook,
  theme: Theme,
): string {
  const chosen = look.colors.get(String(values[index]))
  return chosen ?? CATEGORIES[theme][colors[index]!] ?? PALETTES[theme].none
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

/** An expression for the color of a value. `property` is where the value is. */
export function colorExpression(scale: Scale, property: string, look: ColorLook, theme: Theme): unknown {
  const { none } = PALETTES[theme]
  const value = ['get', property]
  if (scale.kind === 'categories') {
    if (scale.values.length === 0) return none
    // Tiles hold booleans and numbers as such; as texts all of them can be compared. No value would be an empty text.
    const pairs = scale.values.flatMap((one, i) => [String(one), categoryColor(scale, i, look, theme)])
    return ['case', ['has', property], ['match', ['to-string', value], ...pairs, none], none]
  }
  const number = ['to-number', value, 0]
  return ['case', ['has', property], numberColor(scale, number, look, theme), none]
}

function numberColor(scale: NumberScale, number: unknown, look: ColorLook, theme: Theme): unknown {
  const { breaks, min, max, isContinuous } = scale
  if (isContinuous) {
    const colors = rampColors(look.ramp, theme, look.isReversed)
    const stops = colors.flatMap((color, i) => [min + ((max - min) * i) / (colors.length - 1), color])
    return ['interpolate', ['linear'], number, ...stops]
  }
  const first = classColor(scale, 0, look, theme)
  const steps = breaks.flatMap((at, index) => [at, classColor(scale, index + 1, look, theme)])
  return steps.length === 0 ? first : ['step', number, first, ...steps]
}

/** The factors of the smallest and of the largest point. */
const SMALLEST = 0.6
const LARGEST = 4.6

/** An expression for the factor by which a point is larger than usual. */
export function sizeExpression(scale: Scale, property: string): unknown {
  if (scale.kind === 'categories') return 1
  const { breaks, min, max, isContinuous, isSkewed } = scale
  const number = ['to-number', ['get', property], 0]
  const share = ['max', 0, ['min', 1, ['/', ['-', number, min], max - min]]]
  const steps = breaks.flatMap((at, index) => [at, classSize(scale, index + 1)])
  const factor = isContinuous
    ? ['+', SMALLEST, ['*', LARGEST - SMALLEST, isSkewed ? ['sqrt', share] : share]]
    : steps.length > 0
      ? ['step', number, classSize(scale, 0), ...steps]
      : 1
  return ['case', ['has', property], factor, SMALLEST]
}

function classSize({ breaks }: NumberScale, index: number): number {
  return SMALLEST + ((LARGEST - SMALLEST) * index) / Math.max(1, breaks.length)
}

/** The factor of a number's point, for legends. */
export function sizeOf(scale: NumberScale, value: number): number {
  const { breaks, min, max, isContinuous, isSkewed } = scale
  if (!isContinuous) return classSize(scale, breaks.filter((at) => value >= at).length)
  const share = max > min ? (value - min) / (max - min) : 1
  return SMALLEST + (LARGEST - SMALLEST) * (isSkewed ? Math.sqrt(share) : share)
}

/** The classes of a scale in words, each with its color and the number of its rows. */
export function legendOf(
  scale: Scale,
  look: ColorLook,
  theme: Theme,
  format: (value: number) => string,
): LegendEntry[] {
  const { none } = PALETTES[theme]
  const rest = (label: string, count: number | null): LegendEntry[] =>
    count === 0 ? [] : [{ label, color: none, count, isRest: true }]
  const nulls = rest('no value', scale.nulls).map((entry) => ({ ...entry, isNull: true }))
  if (scale.kind === 'categories') {
    const entries = scale.values.map((one, index) => ({
      label: one === '' ? 'empty' : String(one),
      value: String(one),
      index,
      color: categoryColor(scale, index, look, theme),
      count: scale.counts?.[index] ?? null,
    }))
    return [...entries, ...rest('others', scale.others), ...nulls]
  }
  if (scale.isContinuous) return nulls
  const { breaks, min, max, isInteger } = scale
  const classes = [...breaks, null].map((to, index) => {
    const from = index === 0 ? Math.min(min, to ?? min) : breaks[index - 1]!
    // A class ends before the next one begins; only the last one includes its end.
    const end = to === null ? Math.max(max, from) : isInteger && Number.isInteger(to) ? to - 1 : to
    const label = from === end ? format(from) : `${format(from)} – ${format(end)}`
    return {
      label,
      index,
      color: classColor(scale, index, look, theme),
      count: scale.counts?.[index] ?? null,
    }
  })
  return [...classes, ...nulls]
}
