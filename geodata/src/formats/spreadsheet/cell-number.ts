/** Digits that may be too many for a double. */
const LONG_INTEGER = /^-?\d{16,}$/

/** The number in a cell; integers beyond 2^53 are `bigint`, parsed from their digits. NaN if it is none. */
export function cellNumber(text: string): number | bigint {
  const number = Number(text)
  return !Number.isSafeInteger(number) && LONG_INTEGER.test(text) ? BigInt(text) : number
}
