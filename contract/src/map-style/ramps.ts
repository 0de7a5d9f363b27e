export type Theme = 'light' | 'dark'

/** The colors of a map of the service, beside those that values have. */
export interface Palette {
  sea: string
  land: string
  coast: string
  border: string
  grid: string
  label: string
  halo: string
  data: string
  outline: string
  /** From few features to many. */
  cluster: [string, string, string]
  onCluster: string
  pointed: string
  selected: string
  /** What has no value. */
  none: string
}

export const PALETTES: Record<Theme, Palette> = {
  light: {
    sea: '#dde9f0',
    land: '#f8f8f4',
    coast: '#b4c6cc',
    border: '#cdd5d2',
    grid: '#c3d0d4',
    label: '#5c6b68',
    halo: '#f8f8f4',
    data: '#0b7a66',
    outline: '#ffffff',
    cluster: ['#5fb8a2', '#1f8f79', '#0a5548'],
    onCluster: '#ffffff',
    pointed: '#e8830c',
    selected: '#d4380b',
    none: '#a3adaa',
  },
  dark: {
    sea: '#0c1316',
    land: '#1c2523',
    coast: '#3c4c49',
    border: '#33403d',
    grid: '#2b3937',
    label: '#aebbb7',
    halo: '#141b19',
    data: '#4fc9ae',
    outline: '#0c1316',
    cluster: ['#2a6d60', '#3fa893', '#9cf0dc'],
    onCluster: '#06110f',
    pointed: '#ffc46b',
    selected: '#ff9a57',
    none: '#66736f',
  },
}

/**
 * Ramps from low to high whose lightness changes steadily, so that people who cannot tell red from green read them.
 * `blue-red` has a light middle, for values on both sides of one.
 */
export const RAMPS = {
  plasma: ['#2a0593', '#7e03a8', '#cc4778', '#f2844b', '#fcce25'],
  viridis: ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'],
  cividis: ['#00224e', '#434e6c', '#7d7c78', '#bcae6c', '#fee838'],
  magma: ['#120d32', '#641a80', '#b73779', '#f8765c', '#fcdc9b'],
  blues: ['#08306b', '#2171b5', '#6baed6', '#b3d3e8', '#dce9f6'],
  'blue-red': ['#2166ac', '#86bcdb', '#efefef', '#f4a582', '#b2182b'],
} as const

export type RampName = keyof typeof RAMPS
export const RAMP_NAMES = Object.keys(RAMPS) as RampName[]

/**
 * The colors of a ramp on a theme: the highest values stand out, dark on the light map and light on the dark one.
 * `isReversed` turns that round.
 */
export function rampColors(name: RampName, theme: Theme, isReversed: boolean): readonly string[] {
  const isTurned = name !== 'blue-red' && theme === 'light'
  return isTurned !== isReversed ? RAMPS[name].toReversed() : RAMPS[name]
}

/** The color at a share of a ramp, from 0 to 1. */
export function rampColor(colors: readonly string[], share: number): string {
  const at = Math.max(0, Math.min(1, share)) * (colors.length - 1)
  const low = Math.min(colors.length - 2, Math.floor(at))
  const mixed = [1, 3, 5].map((start) => {
    const part = (color: string) => Number.parseInt(color.slice(start, start + 2), 16)
    const [from, to] = [part(colors[low]!), part(colors[low + 1]!)]
    return Math.round(from + (to - from) * (at - low))
      .toString(16)
      .padStart(2, '0')
  })
  return `#${mixed.join('')}`
}

/**
 * Colors of categories. The first eight differ by lightness as much as by hue, so that people who cannot tell red from
 * green tell them apart too (map-style.test.ts computes it); the others are lighter or darker ones of the same kind.
 */
export const CATEGORIES: Record<Theme, readonly string[]> = {
  light: [
    ...['#1c57bb', '#e68807', '#0db1aa', '#941963', '#8d6ca3', '#5e7e42', '#5d98fc', '#7e4208'],
    ...['#8fb0e6', '#f6c987', '#8adcd7', '#cf86ae', '#cbb9d6', '#a9c08f', '#b3cffe', '#c09a75'],
  ],
  dark: [
    ...['#5293f5', '#f0a01a', '#15d5b0', '#c95b97', '#bcabfa', '#c0e676', '#9ae3fe', '#d0642a'],
    ...['#2f5fa8', '#a06c14', '#0f8f78', '#873d66', '#7d6fb0', '#7f9a4b', '#5f97ab', '#8b431c'],
  ],
}
