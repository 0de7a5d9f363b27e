import type { PublishingSchema } from '@wayleave/contract/records'
import type { ColumnNotes } from '../../catalog/column-notes.ts'

/** A schema as the database has it. The texts may have megabytes, and take milliseconds to write. */
export interface StoredSchema {
  /** The number of its columns. */
  columns: number
  /** In JSON, without the notes on its columns. */
  text: string
  /** The notes, in JSON: they are those of the dataset. */
  notes: string
}

export function storedSchema(schema: PublishingSchema): StoredSchema {
  return {
    columns: schema.columns.length,
    text: schemaText(schema),
    notes: JSON.stringify(columnNotesOf(schema)),
  }
}

export function schemaText(schema: PublishingSchema): string {
  return JSON.stringify(withoutNotes(schema))
}

/** What people read about the columns, by published name. */
export function columnNotesOf({ columns }: PublishingSchema): ColumnNotes {
  const described = columns.flatMap(({ name, title, description, unit }) => {
    const texts = Object.entries({ title, description, unit }).filter(([, text]) => text !== undefined)
    return texts.length === 0 ? [] : [[name, Object.fromEntries(texts)] as const]
  })
  return Object.fromEntries(described)
}

/** What is stored of a schema: the notes on its columns are those of the dataset. */
export function withoutNotes({ columns, ...rest }: PublishingSchema): PublishingSchema {
  return {
    ...rest,
    columns: columns.map(({ title: _, description: _text, unit: _unit, ...column }) => column),
  }
}
