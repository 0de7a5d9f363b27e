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
  /** What people read about it; what is said already if undefined. */
  title?: string
  description?: string
  unit?: string
}

export type ColumnWords = Pick<Correction, 'title' | 'description' | 'unit'>

/** Which columns are the id, the time and the place, and the CRS; empty if that is found by itself. */
export interface Roles {
  idColumn: string
  timeColumn: string
  longitude: string
  latitude: string
  geometryColumn: string
  crs: string
}

/** The columns of the place: either coordinates or geometries. */
const PLACE_ROLES = ['longitude', 'latitude', 'geometryColumn'] as const

/** Chooses the column of a role. Coordinates and geometries exclude each other. */
export function withRole<T extends Roles>(roles: T, name: keyof Roles, column: string): T {
  const excluded: readonly string[] =
    name === 'geometryColumn'
      ? ['longitude', 'latitude']
      : PLACE_ROLES.includes(name as 'latitude')
        ? ['geometryColumn']
        : []
  const cleared = column === '' ? {} : Object.fromEntries(excluded.map((other) => [other, '']))
  return { ...roles, ...cleared, [name]: column }
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

/** What later versions of the dataset are checked against, beside what is corrected. */
export interface LaterChecks {
  /** They must have all columns of this one. */
  keepsAll: boolean
  /** How many percent of the rows they may lack; as before if it is not a number from 0 to 100. */
  maxRowDrop?: string
}

/**
 * The schema that publishing with the corrections stores, from the one that the dataset has. Null if nothing is
 * corrected and later versions are not checked.
 */
export function correctedSchema(
  columns: readonly InspectedColumnRecord[],
  corrections: Corrections,
  stored: PublishingSchema | null,
  { keepsAll, maxRowDrop = '' }: LaterChecks,
  roles: Partial<Roles> = {},
): PublishingSchema | null {
  const corrected = columns.filter(({ source }) => Object.hasOwn(corrections, source))
  const chosen: Partial<PublishingSchema> = Object.fromEntries(
    Object.entries(roles).filter(([, text]) => text.trim() !== ''),
  )
  const percent = maxRowDrop.trim() === '' ? Number.NaN : Number(maxRowDrop)
  if (percent >= 0 && percent <= 100) chosen.maxRowDrop = percent / 100
  if (corrected.length === 0 && !keepsAll && Object.keys(chosen).length === 0) return null
  const fixed = new Map(stored?.columns.map((column) => [column.source ?? column.name, column]))
  for (const column of keepsAll ? columns : corrected) {
    const { source } = column
    const correction = corrections[source] ?? asFound(column)
    const { name, type, format, hidden } = correction
    const { title, description, unit } = wordsOf(correction, fixed.get(source))
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
  const kept = { ...stored }
  // Otherwise the next version would be placed by the columns that were fixed before.
  if (PLACE_ROLES.some((name) => name in chosen)) for (const name of PLACE_ROLES) delete kept[name]
  return { ...kept, ...chosen, columns: [...fixed.values()] }
}

function wordsOf(correction: ColumnWords, said: ColumnWords = {}): Required<ColumnWords> {
  const word = (name: keyof ColumnWords) => (correction[name] ?? said[name] ?? '').trim()
  return { title: word('title'), description: word('description'), unit: word('unit') }
}
