import type { ColumnType } from '@wayleave/geodata/features'

export const COLUMN_TYPES = [
  'boolean',
  'integer',
  'number',
  'text',
  'date',
  'timestamp',
  'json',
] as const satisfies ColumnType[]

export class ColumnTypesError extends Error {
  override name = 'ColumnTypesError'
}

const PAIR = new RegExp(`\\s*(.+?)\\s*=\\s*(${COLUMN_TYPES.join('|')})\\s*(?:[,\\n]|$)`, 'y')

/**
 * Parses `zip=text,opened=date`. A name may contain commas and equals signs, because a pair ends at the first
 * `=` that is followed by a type.
 */
export function parseColumnTypes(text: string): { [column: string]: ColumnType } {
  const types: { [column: string]: ColumnType } = {}
  PAIR.lastIndex = 0
  for (let end = 0; end < text.trimEnd().length; end = PAIR.lastIndex) {
    const match = PAIR.exec(text)
    if (match === null)
      throw new ColumnTypesError(
        `${JSON.stringify(text.slice(end, end + 80))} is not name=type; types are ${COLUMN_TYPES.join(', ')}.`,
      )
    types[match[1]!] = match[2] as ColumnType
  }
  return types
}
