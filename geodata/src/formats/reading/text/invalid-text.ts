import { isUtf8 } from 'node:buffer'
import type { Value } from '../../../feature.ts'

/** What decoders return for bytes that are not valid; it may also be in the text itself. */
const REPLACEMENT = '\ufffd'

/** The problem of a row with a text that cannot be decoded. */
export function invalidText(column: string, encoding = 'utf-8'): string {
  return `the text of column ${column} is not valid ${encoding}`
}

/** Decodes UTF-8; null if the bytes are not valid. */
export function strictUtf8(bytes: Buffer): string | null {
  const text = bytes.toString('utf8')
  return text.includes(REPLACEMENT) && !isUtf8(bytes) ? null : text
}

/** Whether a text, also inside of a nested value, has replacement characters. */
export function hasReplacement(value: Value | undefined): boolean {
  if (typeof value === 'string') return value.includes(REPLACEMENT)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => name.includes(REPLACEMENT) || hasReplacement(inner))
}
