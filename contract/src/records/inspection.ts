import { type Static, Type } from 'typebox'
import { COLUMN_FORMATS } from '../column-formats.ts'
import { bbox, columnSchema, geometryType, geometryTypes } from './dataset.ts'
import { nullable, oneOf } from './schema-parts.ts'

export const rowProblemSchema = Type.Object({ row: Type.Integer(), message: Type.String() })

/** Why a row of the source cannot be published. */
export type RowProblem = Static<typeof rowProblemSchema>

export const crsTransformationSchema = nullable(
  Type.Object({
    name: Type.String(),
    accuracy: nullable(Type.Number({ description: 'In metres; null if it is not known.' })),
  }),
)

const format = nullable(
  oneOf(COLUMN_FORMATS, { description: 'How its texts write numbers or dates, if not as in JSON.' }),
)

const likely = nullable(
  Type.Object(
    {
      type: columnSchema.properties.type,
      format,
      disagreeing: Type.Integer({ description: 'How many values do not have this type.' }),
      examples: Type.Array(Type.Object({ row: Type.Integer(), value: Type.String() })),
    },
    { description: 'The type that most values of a column of texts have, if some disagree.' },
  ),
)

const inspectedColumn = Type.Object({
  name: Type.String({ description: 'The name that it would be published with.' }),
  source: Type.String({ description: 'Its name in the file.' }),
  type: columnSchema.properties.type,
  format,
  nullable: Type.Boolean(),
  empty: Type.Integer({ description: 'The number of rows without a value.' }),
  isHidden: Type.Boolean({ description: 'It would not be published.' }),
  likely,
})

/** What a file contains, and what publishing it would do. */
export const inspectionSchema = Type.Object({
  file: Type.String(),
  format: Type.String(),
  bytes: Type.Integer(),
  rows: Type.Integer(),
  problemCount: Type.Integer({ description: 'The number of rows that cannot be published.' }),
  problems: Type.Array(rowProblemSchema),
  geometryType,
  geometryTypes,
  bbox,
  unlocated: Type.Optional(
    Type.Integer({
      description:
        'The number of rows without coordinates or a geometry: they are published, and no map shows them. 0 for a table.',
    }),
  ),
  places: Type.Array(Type.Array(Type.Number()), {
    description: 'Points on some of the geometries, for a small map: longitude, latitude.',
  }),
  crs: nullable(Type.String()),
  crsTransformation: crsTransformationSchema,
  timeColumn: nullable(Type.String()),
  columns: Type.Array(inspectedColumn),
  preview: Type.Array(
    Type.Object({
      row: Type.Integer(),
      values: Type.Array(nullable(Type.String())),
      geometry: nullable(Type.String()),
    }),
    { description: 'The first rows, with the texts of the values in the order of `columns`.' },
  ),
  misfits: Type.Array(Type.String(), { description: 'What does not fit the schema of the dataset.' }),
  notes: Type.Array(Type.String(), { description: 'What would be renamed, dropped or changed.' }),
})

export type InspectionRecord = Static<typeof inspectionSchema>
export type InspectedColumnRecord = Static<typeof inspectedColumn>
