import type { Value } from '../../feature.ts'

/** Digits at the start of a number that may be too many for a double. */
const LONG_INTEGER = /(?:^|[\s:,[-])\d{16}/

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** `JSON.parse`, except that integers beyond 2^53 become `bigint`, parsed from their digits. */
export function parseJson(text: string): Value {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  const reviver: SourceReviver = (_, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
    return /^-?\d+$/.test(source) ? BigInt(source) : value
  }
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}
