import type { ColumnType } from '@wayleave/geodata/features'
import { type Static, Type } from 'typebox'
import { COLUMN_TYPES } from '../publishing/column-types.ts'
import { boundedText } from '../publishing/description-schema.ts'
import { HEADER_LINES, SKIPPED_LINES } from '../publishing/line-counts.ts'

const columnType = Type.Unsafe<ColumnType>({ type: 'string', enum: [...COLUMN_TYPES] })

/** How a source is read and published, as it is stored. */
export const sourceOptionsSchema = Type.Object(
  {
    sourceTable: boundedText(200, 'The table or view of a database, as `schema.table`.'),
    query: boundedText(20_000, 'The query whose rows are read from a database.'),
    format: boundedText(40, 'The format’s name if the file does not show it.'),
    layer: boundedText(200, 'The layer of a file that has several.'),
    crs: boundedText(20_000, 'The CRS if the source does not state it.'),
    allowInaccurateCrs: Type.Optional(Type.Boolean()),
    encoding: boundedText(40, 'The encoding of the texts if the file does not state it.'),
    longitude: boundedText(200, 'The column that holds longitudes or x.'),
    latitude: boundedText(200, 'The column that holds latitudes or y.'),
    geometryColumn: boundedText(200, 'The column that holds the geometry.'),
    geometry: Type.Optional(Type.Boolean()),
    header: Type.Optional(Type.Boolean()),
    skipLines: Type.Optional(Type.Integer(SKIPPED_LINES)),
    headerLines: Type.Optional(Type.Integer(HEADER_LINES)),
    types: Type.Optional(Type.Record(Type.String({ maxLength: 200 }), columnType, { maxProperties: 2000 })),
    idColumn: boundedText(200, 'The column that holds the features’ ids.'),
    timeColumn: boundedText(200, 'The column that `datetime` filters.'),
    skipInvalid: Type.Optional(Type.Boolean()),
    sample: Type.Optional(Type.Boolean()),
    tiles: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, description: 'How the source is read, as for an upload.' },
)

export type SourceSettings = Static<typeof sourceOptionsSchema>
