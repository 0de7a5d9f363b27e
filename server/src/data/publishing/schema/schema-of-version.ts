import type { PublishingSchema } from '@wayleave/contract/records'
import type { Dataset } from '../../catalog/dataset.ts'

/** The schema that the current version of a dataset fits, to start from. */
export function schemaOfVersion({ manifest, columnNotes }: Dataset): PublishingSchema {
  const { id, timeColumn, source } = manifest
  const formats = new Map(Object.entries(source.formats ?? {}))
  return {
    columns: manifest.columns.map(({ name, type }) => ({
      ...{ name, type },
      ...(formats.has(name) && { format: formats.get(name)! }),
      ...columnNotes.of(name),
    })),
    ...(id.column !== null && id.isRowNumber !== true && { idColumn: id.column }),
    ...(timeColumn !== null && { timeColumn }),
  }
}

/** A stored schema with the notes on its columns that apply now, which can also be changed by themselves. */
export function describedSchema(schema: PublishingSchema, { columnNotes }: Dataset): PublishingSchema {
  const { columns, ...rest } = withoutNotes(schema)
  return { ...rest, columns: columns.map((column) => ({ ...column, ...columnNotes.of(column.name) })) }
}

/** What is stored of a schema: the notes on its columns are those of the dataset. */
export function withoutNotes({ columns, ...rest }: PublishingSchema): PublishingSchema {
  return {
    ...rest,
    columns: columns.map(({ title: _, description: _text, unit: _unit, ...column }) => column),
  }
}
