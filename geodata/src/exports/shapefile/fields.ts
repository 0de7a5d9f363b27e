import { ExportError } from '../../export-error.ts'
import type { Column } from '../../feature.ts'
import { type ColumnSurvey, MAX_TEXT } from './survey.ts'

/** dBase stores header and record lengths as 16-bit numbers. */
const MAX_FIELDS = 2046
const MAX_RECORD = 65_535
const NAME_BYTES = 10
/** The widest integer that GDAL and others read as an integer; they would read wider fields as doubles. */
const EXACT_DIGITS = 18

export interface Field {
  name: string
  type: 'C' | 'N' | 'F' | 'L' | 'D'
  width: number
  decimals: number
  /** The offset in the record, which starts with the deletion flag. */
  offset: number
}

export function planFields(columns: readonly Column[], surveys: readonly ColumnSurvey[]): Field[] {
  const names = fieldNames(columns.map((column) => column.name))
  let offset = 1
  const fields = columns.map((column, i) => {
    const field = { name: names[i]!, ...fieldType(column, surveys[i]!), offset }
    offset += field.width
    return field
  })
  if (fields.length > MAX_FIELDS || offset > MAX_RECORD) {
    throw new ExportError(
      'shapefile-too-large',
      `A shapefile holds at most ${MAX_FIELDS} columns and ${MAX_RECORD} bytes a record; ` +
        `this dataset needs ${fields.length} columns and ${offset} bytes. Take another format.`,
    )
  }
  return fields
}

function fieldType({ type }: Column, survey: ColumnSurvey): Pick<Field, 'type' | 'width' | 'decimals'> {
  const text = { type: 'C', width: Math.min(Math.max(survey.width, 1), MAX_TEXT), decimals: 0 } as const
  switch (type) {
    case 'boolean':
      return { type: 'L', width: 1, decimals: 0 }
    case 'integer':
      return survey.width <= EXACT_DIGITS ? { ...text, type: 'N' } : text
    case 'number': {
      // At least one decimal, because readers treat a field without decimals as an integer.
      const decimals = Math.max(survey.decimals, 1)
      return { type: survey.hasExponent ? 'F' : 'N', width: Math.max(survey.width, decimals + 2), decimals }
    }
    case 'date':
      return survey.width <= 10 ? { type: 'D', width: 8, decimals: 0 } : text
    case 'text':
    case 'timestamp':
    case 'json':
      return text
  }
}

/**
 * Names of at most ten bytes, unique regardless of case. Names that fit are kept; the others are truncated
 * afterwards to names that are still free.
 */
export function fieldNames(names: readonly string[]): string[] {
  const usedNames = new Set<string>()
  const result: string[] = new Array(names.length)
  const clean = names.map((name) => name.replace(/\p{Cc}/gu, '_') || 'field')
  clean.forEach((name, i) => {
    if (Buffer.byteLength(name) > NAME_BYTES || usedNames.has(name.toLowerCase())) return
    usedNames.add(name.toLowerCase())
    result[i] = name
  })
  clean.forEach((name, i) => {
    if (result[i] !== undefined) return
    let cut = cutText(name, NAME_BYTES)
    for (let n = 1; usedNames.has(cut.toLowerCase()); n++) {
      cut = `${cutText(name, NAME_BYTES - 1 - String(n).length)}_${n}`
    }
    usedNames.add(cut.toLowerCase())
    result[i] = cut
  })
  return result
}

/** The longest prefix of whole characters that has at most `bytes` bytes of UTF-8. */
export function cutText(text: string, bytes: number): string {
  let length = 0
  let cut = ''
  for (const character of text) {
    length += Buffer.byteLength(character)
    if (length > bytes) break
    cut += character
  }
  return cut
}
