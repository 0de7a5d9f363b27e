import type { PublishingSchema } from '@wayleave/contract/records'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { StoredNotes } from '../../catalog/column-notes.ts'
import { withoutNotes } from './stored-schema.ts'

/** The schema that a version fits, to start from, without notes on its columns. */
export function schemaOfVersion({ columns, id, timeColumn, source }: Manifest): PublishingSchema {
  const formats = new Map(Object.entries(source.formats ?? {}))
  return {
    columns: columns.map(({ name, type }) => ({
      ...{ name, type },
      ...(formats.has(name) && { format: formats.get(name)! }),
    })),
    ...(id.column !== null && id.isRowNumber !== true && { idColumn: id.column }),
    ...(timeColumn !== null && { timeColumn }),
  }
}

/** A schema with the notes on its columns that apply now, which can also be changed by themselves. */
export function describedSchema(schema: PublishingSchema, notes: StoredNotes): PublishingSchema {
  const { columns } = withoutNotes(schema)
  return { ...schema, columns: columns.map((column) => ({ ...column, ...notes.of(column.name) })) }
}
