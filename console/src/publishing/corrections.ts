import type { ColumnFormat } from '@wayleave/contract/column-formats'
import type { InspectedColumnRecord, PublishingSchema } from '@wayleave/contract/records'

type ColumnType = InspectedColumnRecord['type']

/** What the publisher changes about a column of an inspected file. */
export interface Correction {
  name: string
  type: ColumnType
  /** Empty: recognised. */
  format: ColumnFormat | ''
  hidden: boolean
}

/** By the names of the columns in the file. Columns that stay as they were found have none. */
export type Corrections = Readonly<Record<string, Correction>>

export const COLUMN_TYPES = [
  'text',
  'integer',
  'number',
  'date',
  'timestamp',
  'boolean',
  'json',
] as const satisfies ColumnType[]

/** The formats that texts of a type may have. */
export const FORMATS_OF: { [type in ColumnType]?: readonly ColumnFormat[] } = {
  integer: ['decimal-point', 'decimal-comma'],
  number: ['decimal-point', 'decimal-comma'],
  date: ['dd-mm-yyyy', 'mm-dd-yyyy', 'yyyy-mm-dd'],
  timestamp: ['dd-mm-yyyy', 'mm-dd-yyyy', 'yyyy-mm-dd'],
}

export function asFound({ name, type, format, isHidden }: InspectedColumnRecord): Correction {
  return { name, type, format: format ?? '', hidden: isHidden }
}

/** The correction with a change; a format that the type cannot have is dropped. */
export function changed(correction: Correction, change: Partial<Correction>): Correction {
  const next = { ...correction, ...change }
  const isPossible = next.format === '' || FORMATS_OF[next.type]?.includes(next.format)
  return isPossible ? next : { ...next, format: '' }
}

/**
 * The schema that publishing with the corrections stores, from the one that the dataset has. Null if nothing is
 * corrected and later versions need not have these columns.
 */
export function correctedSchema(
  columns: readonly InspectedColumnRecord[],
  corrections: Corrections,
  stored: PublishingSchema | null,
  keepsAll: boolean,
): PublishingSchema | null {
  const corrected = columns.filter(({ source }) => Object.hasOwn(corrections, source))
  if (corrected.length === 0 && !keepsAll) return null
  const fixed = new Map(stored?.columns.map((column) => [column.source ?? column.name, column]))
  for (const column of keepsAll ? columns : corrected) {
    const { source } = column
    const { name, type, format, hidden } = corrections[source] ?? asFound(column)
    const { title, description, unit } = fixed.get(source) ?? {}
    fixed.set(source, {
      ...{ name: name.trim() || source, type },
      ...(name.trim() !== source && { source }),
      ...(format !== '' && { format }),
      ...(hidden && { hidden }),
      ...(title && { title }),
      ...(description && { description }),
      ...(unit && { unit }),
    })
  }
  return { ...stored, columns: [...fixed.values()] }
}
