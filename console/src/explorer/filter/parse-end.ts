import type { Value } from './cql2-text.ts'

/** Null if the text is empty; undefined if it is not a value of the type. */
export function parseEnd(draft: string, type: string): Value | null | undefined {
  const text = draft.trim()
  if (text === '') return null
  if (type === 'integer' || type === 'number') {
    const number = Number(text.replace(',', '.'))
    return Number.isFinite(number) ? number : undefined
  }
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const time = Date.parse(isDay || /(Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text.replace(' ', 'T')}Z`)
  if (Number.isNaN(time)) return undefined
  const iso = new Date(time).toISOString()
  return type === 'date' ? iso.slice(0, 10) : iso.replace('.000Z', 'Z')
}
