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
  title: string
  description: string
  unit: string
}

/** What people read about a column. */
export type ColumnWords = Pick<Correction, 'title' | 'description' | 'unit'>

/** Which columns are the id, the time and the coordinates, and the CRS; empty if that is found by itself. */
export interface Roles {
  idColumn: string
  timeColumn: string
  longitude: string
  latitude: string
  crs: string
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

export function asFound(
  { name, type, format, isHidden }: InspectedColumnRecord,
  { title = '', description = '', unit = '' }: Partial<ColumnWords> = {},
): Correction {
  return { name, type, format: format ?? '', hidden: isHidden, title, description, unit }
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
  roles: Partial<Roles> = {},
): PublishingSchema | null {
  const corrected = columns.filter(({ source }) => Object.hasOwn(corrections, source))
  const chosenRoles = Object.fromEntries(Object.entries(roles).filter(([, text]) => text.trim() !== ''))
  if (corrected.length === 0 && !keepsAll && Object.keys(chosenRoles).length === 0) return null
  const fixed = new Map(stored?.columns.map((column) => [column.source ?? column.name, column]))
  for (const column of keepsAll ? columns : corrected) {
    const { source } = column
    const words = fixed.get(source)
    const { name, type, format, hidden, ...texts } = corrections[source] ?? asFound(column, words)
    const [title, description, unit] = [texts.title, texts.description, texts.unit].map((text) => text.trim())
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
  return { ...stored, ...chosenRoles, columns: [...fixed.values()] }
}
