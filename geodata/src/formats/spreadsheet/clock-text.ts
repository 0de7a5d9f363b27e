const SECOND_US = 1e6

/** A time of day or a duration as `10:30:45.5`; hours may be more than 24, and a duration may be negative. */
export function clockText(microseconds: number): string {
  const sign = microseconds < 0 ? '-' : ''
  const amount = Math.abs(microseconds)
  const seconds = Math.floor(amount / SECOND_US)
  const fraction = String(amount % SECOND_US)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const text = sign + parts.map((part) => String(part).padStart(2, '0')).join(':')
  return fraction === '' ? text : `${text}.${fraction}`
}

const ISO_DURATION = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d*)?)S)?)?$/

/**
 * The text of `PT10H30M45.5S`; null if the text is not such a duration. It is rounded to microseconds, because programs
 * compute it from a double and write all of its digits.
 */
export function isoDurationText(duration: string): string | null {
  const match = ISO_DURATION.exec(duration)
  if (match === null) return null
  const [, sign, days, hours, minutes, seconds] = match
  const whole = (Number(days ?? 0) * 24 + Number(hours ?? 0)) * 3600 + Number(minutes ?? 0) * 60
  const amount = whole * SECOND_US + Math.round(Number((seconds ?? '0').replace(',', '.')) * SECOND_US)
  return Number.isSafeInteger(amount) ? clockText(sign === '-' ? -amount : amount) : null
}
