import { Type } from 'typebox'
import { nullable } from '../http/nullable.ts'

export const tableParams = Type.Object({ table: Type.String() })
export const bbox = nullable(Type.Array(Type.Number(), { description: 'West, south, east, north in WGS84.' }))
export const geometryType = nullable(
  Type.String({ description: '`Geometry` where types are mixed; null for a table without geometry.' }),
)
export const geometryTypes = Type.Array(Type.String(), { description: 'The types that occur.' })
export const timeExtent = nullable(
  Type.Array(Type.String(), {
    description:
      'The earliest and the latest value of the column that tells the time, where there is one and it is known.',
  }),
)
export const formats = Type.Array(
  Type.Object({ format: Type.String(), mediaType: Type.String(), url: Type.String() }),
)

export const columns = Type.Array(
  Type.Object({ name: Type.String(), type: Type.String(), nullable: Type.Boolean() }),
)

/** The metadata of a dataset in the list of datasets. */
export const metadataSchema = Type.Object({
  table: Type.String(),
  title: Type.String(),
  description: Type.String(),
  license: Type.String(),
  attribution: Type.String(),
  keywords: Type.Array(Type.String()),
  geometryType,
  geometryTypes,
  bbox,
  timeExtent,
  rows: Type.Integer(),
  columns,
  version: Type.Integer(),
  updatedAt: Type.String(),
  credits: Type.Integer({ description: 'What one download costs.' }),
  formats,
  sample: nullable(Type.String()),
})
