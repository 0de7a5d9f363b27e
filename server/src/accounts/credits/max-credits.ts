import type { IncomingHttpHeaders } from 'node:http'
import { invalidInput } from '../../base/problem.ts'

/** The most that the caller wants to pay, by the header `Credits-Max`; undefined if it says nothing. */
export function maxCreditsOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['credits-max']
  if (text === undefined) return undefined
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw invalidInput('Credits-Max', 'must be a whole number')
  return Number(text)
}
