import { RAMP_NAMES, type RampName } from './ramps.ts'

/** How the values of a column of numbers are divided: continuously, or into classes. */
export type Classing =
  | { kind: 'continuous' | 'quantiles' | 'equal' }
  /** Class i begins at `at[i - 1]`. */
  | { kind: 'breaks'; at: number[] }

export const DRAWINGS = ['features', 'heat', 'hexagons'] as const
export type Drawing = (typeof DRAWINGS)[number]

/** How a map shows a dataset. The page's address, the frame for other sites and the style document have the same. */
export interface MapLook {
  /** The column that colors the features; empty for none. */
  color: string
  /** The column that sizes the points; empty for none. */
  size: string
  /** The column whose values are written beside features; empty for none. */
  label: string
  draw: Drawing
  classing: Classing
  sizing: Classing
  ramp: RampName
  isReversed: boolean
  /** From 0.1 to 1. */
  opacity: number
  /** The colors that were chosen for values, as `#rrggbb`. */
  colors: ReadonlyMap<string, string>
}

export const DEFAULT_LOOK: MapLook = {
  color: '',
  size: '',
  label: '',
  draw: 'features',
  classing: { kind: 'quantiles' },
  sizing: { kind: 'continuous' },
  ramp: 'plasma',
  isReversed: false,
  opacity: 0.85,
  colors: new Map(),
}

/** The parameters that hold a look. */
export const LOOK_PARAMETERS = [
  'color',
  'size',
  'label',
  'draw',
  'classing',
  'sizing',
  'ramp',
  'opacity',
  'colors',
] as const
export type LookParameter = (typeof LOOK_PARAMETERS)[number]

const MAX_BREAKS = 12
const MAX_COLORS = 50

/** Reads a look. What cannot be understood is as if it were absent. */
export function readLook(text: (name: LookParameter) => string): MapLook {
  const draw = text('draw') as Drawing
  const ramp = text('ramp').replace(/^-/, '') as RampName
  const opacity = Number(text('opacity'))
  return {
    color: text('color'),
    size: text('size'),
    label: text('label'),
    draw: DRAWINGS.includes(draw) ? draw : 'features',
    classing: readClassing(text('classing')) ?? DEFAULT_LOOK.classing,
    sizing: readClassing(text('sizing')) ?? DEFAULT_LOOK.sizing,
    ramp: RAMP_NAMES.includes(ramp) ? ramp : DEFAULT_LOOK.ramp,
    isReversed: text('ramp').startsWith('-'),
    opacity: opacity >= 0.1 && opacity <= 1 ? opacity : DEFAULT_LOOK.opacity,
    colors: readColors(text('colors')),
  }
}

/** What is wrong with a look; null if all of it can be understood. */
export function lookProblem(
  text: (name: LookParameter) => string,
): { parameter: LookParameter; message: string } | null {
  const rules: [LookParameter, (value: string) => boolean, string][] = [
    ['draw', (value) => (DRAWINGS as readonly string[]).includes(value), DRAWINGS.join(', ')],
    ['classing', (value) => readClassing(value) !== null, CLASSINGS],
    ['sizing', (value) => readClassing(value) !== null, CLASSINGS],
    ['ramp', (value) => (RAMP_NAMES as string[]).includes(value.replace(/^-/, '')), RAMP_NAMES.join(', ')],
    ['opacity', (value) => Number(value) >= 0.1 && Number(value) <= 1, 'a number from 0.1 to 1'],
    ['colors', (value) => readColors(value).size === value.split(',').length, 'value:rrggbb,…'],
  ]
  for (const [parameter, isValid, expected] of rules) {
    const value = text(parameter)
    if (value !== '' && !isValid(value)) return { parameter, message: `must be one of ${expected}` }
  }
  return null
}

const CLASSINGS = 'continuous, quantiles, equal, or ascending numbers at which classes begin'

/** The texts of some parts of a look by parameter; null for one that is as without it. */
export function writeLook(look: Partial<MapLook>): Partial<Record<LookParameter, string | null>> {
  const texts: Partial<Record<LookParameter, string | null>> = {}
  for (const name of ['color', 'size', 'label'] as const) {
    if (look[name] !== undefined) texts[name] = look[name] || null
  }
  if (look.draw) texts.draw = look.draw === 'features' ? null : look.draw
  if (look.classing) texts.classing = classingText(look.classing, DEFAULT_LOOK.classing)
  if (look.sizing) texts.sizing = classingText(look.sizing, DEFAULT_LOOK.sizing)
  if (look.ramp !== undefined || look.isReversed !== undefined) {
    const { ramp, isReversed } = { ...DEFAULT_LOOK, ...look }
    texts.ramp = ramp === DEFAULT_LOOK.ramp && !isReversed ? null : `${isReversed ? '-' : ''}${ramp}`
  }
  if (look.opacity !== undefined)
    texts.opacity = look.opacity === DEFAULT_LOOK.opacity ? null : String(look.opacity)
  if (look.colors) texts.colors = writeColors(look.colors)
  return texts
}

/** Numbers that ascend, at most twelve; null for anything else. */
export function readBreaks(text: string): number[] | null {
  const at = text
    .split(/[;,\s]+/)
    .filter(Boolean)
    .map(Number)
  const isValid = at.length > 0 && at.length <= MAX_BREAKS && at.every(Number.isFinite)
  return isValid && at.every((value, index) => index === 0 || value > at[index - 1]!) ? at : null
}

function readClassing(text: string): Classing | null {
  if (text === 'continuous' || text === 'quantiles' || text === 'equal') return { kind: text }
  const at = text === '' ? null : readBreaks(text)
  return at && { kind: 'breaks', at }
}

function classingText(classing: Classing, usual: Classing): string | null {
  if (classing.kind === 'breaks') return classing.at.join(',')
  return classing.kind === usual.kind ? null : classing.kind
}

/** `value:rrggbb`, separated by commas; a value is encoded as in a URL. */
function writeColors(colors: ReadonlyMap<string, string>): string | null {
  const parts = Array.from(colors, ([value, color]) => `${encodeURIComponent(value)}:${color.slice(1)}`)
  return parts.join(',') || null
}

function readColors(text: string): Map<string, string> {
  const colors = new Map<string, string>()
  for (const part of text.split(',').slice(0, MAX_COLORS)) {
    const match = /^(.*):([0-9a-f]{6})$/.exec(part)
    if (!match) continue
    try {
      colors.set(decodeURIComponent(match[1]!), `#${match[2]}`)
    } catch {
      // Not encoded as it should be.
    }
  }
  return colors
}
