import type { Parse } from './parsers.ts'

type Theme = 'light' | 'dark'

/** The grounds of the themes, as in server/src/site/styles/base.css. */
const GROUNDS: Record<Theme, string> = { light: '#f1f5f3', dark: '#1a2220' }
/** WCAG 2.2, success criterion 1.4.3. */
const MIN_CONTRAST = 4.5

/** A color that can be read on the ground of the theme. */
export function accentColor(theme: Theme): Parse<string> {
  const expected = `a color such as #0b6e5b with a contrast of at least ${MIN_CONTRAST} to ${GROUNDS[theme]}`
  return (value) => {
    if (typeof value !== 'string' || !/^#[0-9a-f]{6}$/i.test(value)) return { expected }
    return contrastOf(value, GROUNDS[theme]) >= MIN_CONTRAST ? { value: value.toLowerCase() } : { expected }
  }
}

/** Black or white, whichever can be read better on the color. */
export function textOn(color: string): string {
  return contrastOf(color, '#ffffff') >= contrastOf(color, '#0c1513') ? '#ffffff' : '#0c1513'
}

/** The contrast ratio of two colors, by WCAG 2. */
function contrastOf(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((one, other) => other - one) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
