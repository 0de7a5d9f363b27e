import { dateText, timestampText } from '../calendar.ts'
import type { ColumnType } from '../feature.ts'
import type { DictionaryValues } from './dictionary.ts'

/** A value of a dictionary as it is in a feature. */
export function featureValue(
  type: ColumnType,
  values: DictionaryValues,
  index: number,
): string | number | bigint | boolean {
  const value = values[index]!
  switch (type) {
    case 'boolean':
      return value === 1
    case 'date':
      return dateText(Number(value))
    case 'timestamp':
      return timestampText(BigInt(value))
    case 'integer':
      // Integers that need more than 64 bits are stored as text.
      return typeof value === 'string' ? integerOf(value) : value
    case 'number':
    case 'text':
    case 'json':
      return value
  }
}

function integerOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
