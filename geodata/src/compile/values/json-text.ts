import type { Value } from '../../feature.ts'

/** An escaped backslash, or the escape of a lone surrogate. */
const ESCAPES = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g

/**
 * A value as JSON text in which integers of any size are plain numbers. A lone surrogate is not valid text,
 * and the database rejects its escape, so it becomes U+FFFD, as it does in text columns.
 */
export function jsonText(value: Value): string {
  const text = textOf(value)
  if (!text.includes('\\ud')) return text
  return text.replace(ESCAPES, (escapeText) => (escapeText === '\\\\' ? escapeText : '\ufffd'))
}

/** Nested values with a bigint are walked, because `JSON.stringify` throws on them; others use it. */
function textOf(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return value.toString()
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null'
    case 'object':
      return value === null ? 'null' : holdsBigint(value) ? walk(value) : JSON.stringify(value)
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
  }
}

/** The number of non-finite numbers in a nested value, which are null in its JSON text. */
export function countNotFinite(value: Value): number {
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : 1
  if (value === null || typeof value !== 'object') return 0
  let count = 0
  if (Array.isArray(value)) for (const inner of value) count += countNotFinite(inner)
  else for (const name in value) count += countNotFinite(value[name]!)
  return count
}

function holdsBigint(value: Value): boolean {
  if (typeof value === 'bigint') return true
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(holdsBigint)
  for (const name in value) if (holdsBigint(value[name]!)) return true
  return false
}

function walk(value: Value[] | { [name: string]: Value }): string {
  return Array.isArray(value)
    ? `[${value.map(textOf).join(',')}]`
    : `{${Object.entries(value)
        .map(([name, inner]) => `${JSON.stringify(name)}:${textOf(inner)}`)
        .join(',')}}`
}
