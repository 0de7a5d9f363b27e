import type { DatasetDetails } from '@wayleave/contract/records'
import { cellText } from '../../datasets/cell-text.ts'
import { isNumeric } from './color-columns.ts'

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })

/** The value of a feature, or what a circle tells of several; null if it tells nothing. */
export function valueWords(
  { name, type }: DatasetDetails['columns'][number],
  properties: Record<string, unknown>,
  isOfSeveral: boolean,
): string | null {
  const numberAt = (what: string) => {
    const value = properties[`${name}:${what}`]
    return value === undefined || value === null ? null : short.format(Number(value))
  }
  const own = properties[name]
  if (!isOfSeveral) {
    if (own === undefined || own === null) return 'no value'
    return typeof own === 'number' ? short.format(own) : cellText(own, type)
  }
  if (isNumeric(type)) {
    // Hexagons have the mean as the value itself.
    const mean = numberAt('mean') ?? (typeof own === 'number' ? short.format(own) : null)
    const [min, max] = [numberAt('min'), numberAt('max')]
    if (mean === null) return null
    return min === null || max === null || min === max ? `mean ${mean}` : `mean ${mean}, ${min} to ${max}`
  }
  const top = properties[`${name}:top`]
  if (top === undefined || top === null) return null
  const share = Number(properties[`${name}:share`] ?? 1)
  return share === 1 ? cellText(top, type) : `mostly ${cellText(top, type)}, ${percent.format(share)}`
}
