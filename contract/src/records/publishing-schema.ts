import { type Static, Type } from 'typebox'
import { COLUMN_FORMATS } from '../column-formats.ts'
import { columnSchema } from './dataset.ts'
import { NO_NUL, oneOf } from './schema-parts.ts'

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, pattern: NO_NUL, description }))

const fixedColumn = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, pattern: NO_NUL, description: 'The published name.' }),
    source: text(200, 'Its name in the file, if that is another one.'),
    type: Type.Optional(columnSchema.properties.type),
    format: Type.Optional(
      oneOf(COLUMN_FORMATS, { description: 'How its texts write numbers or dates; recognised if absent.' }),
    ),
    title: text(200, 'Its name for people.'),
    description: text(2000, 'What it holds.'),
    unit: text(50, 'The unit of its values, such as `km`.'),
    hidden: Type.Optional(Type.Boolean({ description: 'The column is not published.' })),
  },
  { additionalProperties: false },
)

/** What a publisher fixes about a dataset. Every later version is read by it and checked against it. */
export const publishingSchemaSchema = Type.Object(
  {
    columns: Type.Array(fixedColumn, {
      maxItems: 10_000,
      description: 'The columns that every version must have. Other columns are published as they are.',
    }),
    idColumn: text(200, 'The column that holds the features’ ids.'),
    timeColumn: text(200, 'The column that `datetime` filters.'),
    longitude: text(200, 'The column that holds longitudes or x; together with `latitude`.'),
    latitude: text(200, 'The column that holds latitudes or y.'),
    geometryColumn: text(200, 'The column that holds WKT, WKB, GeoJSON or points as text.'),
    crs: text(20_000, 'The CRS of the files, such as EPSG:25832.'),
    maxRowDrop: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The share of the rows that the next version may lack; 0.5 if absent, 1 for no limit.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type PublishingSchema = Static<typeof publishingSchemaSchema>
