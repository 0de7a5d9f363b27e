import type { Value } from '../../feature.ts'

/** Digits that begin a number and may be too many for a double. */
const LONG_INTEGER = /(?:^|[\s:,[-])\d{16}/

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** `JSON.parse`, but integers beyond 2^53 are `bigint`, from the digits in the text. */
export function parseJson(text: string): Value {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  const reviver: SourceReviver = (_, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
    return /^-?\d+$/.test(source) ? BigInt(source) : value
  }
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}
