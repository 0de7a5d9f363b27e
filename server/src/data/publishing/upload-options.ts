import { basename } from 'node:path'
import { EXTRACT_PRICES, type ExtractPrice } from '@wayleave/contract/extract-prices'
import { documentedAs } from '@wayleave/contract/records'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { invalidInput, Problem } from '../../base/problem.ts'
import { COLUMN_TYPES, ColumnTypesError, parseColumnTypes } from './column-types.ts'
import { boundedText, descriptionProperties, NO_ZERO } from './description-schema.ts'
import { HEADER_LINES, SKIPPED_LINES } from './line-counts.ts'
import { parseSchema } from './schema/parse-schema.ts'
import { splitKeywords } from './split-keywords.ts'
import type { JobRequest } from './upload-jobs/job-request.ts'

/** Enough for some thousand columns. In a query there is room for fewer. */
const MAX_SCHEMA_CHARACTERS = { query: 20_000, form: 250_000 }

const schemaOption = (maxLength: number) =>
  Type.Optional(
    Type.String({
      maxLength,
      pattern: NO_ZERO,
      description: 'What is fixed about this and later versions, as `PUT …/schema` takes it, in JSON.',
    }),
  )
/** What `parseColumnTypes` accepts. */
const TYPES_PATTERN = `^( *[^\\r\\n\\u2028\\u2029\\x00]+ *= *(${COLUMN_TYPES.join('|')}) *(,|$))*$`

/** How a file is read. */
const readingProperties = {
  filename: boundedText(255, 'The name of the file where the body is the file itself.'),
  format: boundedText(40, 'The format’s name if the file does not show it.'),
  layer: boundedText(200, 'The layer of a file that has several.'),
  crs: boundedText(20_000, 'The CRS if the file does not state it, such as EPSG:25832.'),
  allowInaccurateCrs: Type.Optional(
    Type.Boolean({
      description: 'Publish although the CRS cannot be brought to WGS84 within 20 m.',
    }),
  ),
  encoding: boundedText(40, 'The encoding of the texts if the file does not state it, such as windows-1251.'),
  longitude: boundedText(200, 'The column that holds longitudes or x; together with `latitude`.'),
  latitude: boundedText(200, 'The column that holds latitudes or y.'),
  geometryColumn: boundedText(200, 'The column that holds WKT, WKB, GeoJSON or points as text.'),
  geometry: Type.Optional(
    Type.Boolean({ description: 'False publishes a table without geometry, whatever the file holds.' }),
  ),
  header: Type.Optional(Type.Boolean({ description: 'Whether the first row has the column names.' })),
  skipLines: Type.Optional(
    Type.Integer({
      ...SKIPPED_LINES,
      description: 'How many lines above the table are left out, such as a title; empty ones do not count.',
    }),
  ),
  headerLines: Type.Optional(
    Type.Integer({
      ...HEADER_LINES,
      description: 'How many lines the column names take; their texts are joined.',
    }),
  ),
  types: Type.Optional(
    Type.String({
      maxLength: 20_000,
      pattern: NO_ZERO,
      description: 'Types of columns, such as `zip=text,opened=date`.',
      ...documentedAs({ pattern: TYPES_PATTERN }),
    }),
  ),
  maxProblems: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'How many rows that cannot be published are listed; 10 by default.',
    }),
  ),
  idColumn: boundedText(200, 'The column that holds the features’ ids.'),
  timeColumn: boundedText(200, 'The column that `datetime` filters.'),
  inspection: boundedText(40, 'The job of an inspection whose file is taken, so that it is not sent again.'),
  schema: schemaOption(MAX_SCHEMA_CHARACTERS.query),
}

const modeOf = (description: string) =>
  Type.Optional(Type.Unsafe<'append' | 'update'>({ type: 'string', enum: ['append', 'update'], description }))

/** The options of an inspection. */
export const inspectOptions = Type.Object(
  {
    ...readingProperties,
    table: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9_]{0,62}$',
        description: 'The dataset that the file is for. It is then read by the schema of the dataset.',
      }),
    ),
    mode: modeOf(
      'The file has changes to the current version, as in an upload: it may have fewer rows, and an update fewer columns.',
    ),
  },
  { additionalProperties: false },
)

/** The options of an upload that becomes a version. */
export const uploadOptions = Type.Object(
  {
    ...descriptionProperties,
    // A text of a query or form cannot be null.
    extractPrice: Type.Optional(Type.Unsafe<ExtractPrice>(Type.Enum([...EXTRACT_PRICES]))),
    ...readingProperties,
    note: boundedText(2000, 'What is new in this version.'),
    keywords: boundedText(2000, 'Separated by commas.'),
    dryRun: Type.Optional(
      Type.Boolean({
        description: 'Do everything except making the version visible; the job has the report.',
      }),
    ),
    skipInvalid: Type.Optional(
      Type.Boolean({ description: 'Publish the valid rows and report the others.' }),
    ),
    sample: Type.Optional(Type.Boolean({ description: 'False publishes no sample.' })),
    tiles: Type.Optional(Type.Boolean({ description: 'False builds no vector tiles.' })),
    buildExports: Type.Optional(
      Type.Boolean({ description: 'Build every download format before the version is shown.' }),
    ),
    ignoreSchema: Type.Optional(
      Type.Boolean({ description: 'Publish although the file differs from the schema of the dataset.' }),
    ),
    draft: Type.Optional(Type.Boolean({ description: 'Keep the version back until it is released.' })),
    mode: modeOf(
      'The file has changes to the current version: features to add (`append`), or features to add and to replace, by their ids (`update`). Columns that an update lacks keep their values.',
    ),
    deleteMissing: Type.Optional(
      Type.Boolean({ description: 'With `mode=update`: remove the features that the file does not have.' }),
    ),
  },
  { additionalProperties: false },
)
export type UploadOptions = Static<typeof uploadOptions>
/** Both kinds of options are read by the same code. */
export type OptionSchema = typeof uploadOptions | typeof inspectOptions

/** The same options as fields of a form. */
export function formOptions(schema: OptionSchema) {
  const properties = { ...schema.properties, schema: schemaOption(MAX_SCHEMA_CHARACTERS.form) }
  return Type.Object(properties, { additionalProperties: false })
}

/** The file and each option once. */
export const MAX_FORM_PARTS = 1 + Object.keys(uploadOptions.properties).length

/** Form fields are text, like query parameters, and are validated against the same schema. */
export function checkOptions(fields: Record<string, unknown>, schema: OptionSchema): UploadOptions {
  const converted = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, convert(name, value, schema)]),
  )
  const [first] = Value.Errors(formOptions(schema), converted)
  if (!first) return converted as UploadOptions
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(schema.properties, name))
  if (unknown !== undefined) throw invalidInput(unknown.slice(0, 80) || 'form', 'is not a known field')
  throw invalidInput(first.instancePath.slice(1) || 'form', first.message)
}

/** The value of a form field in the type of its option; a text of another form stays as it is and is refused. */
function convert(name: string, value: unknown, { properties }: OptionSchema): unknown {
  if (typeof value !== 'string' || !Object.hasOwn(properties, name)) return value
  const { type } = (properties as Record<string, { type?: string }>)[name]!
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  if (type === 'integer' && /^\d{1,15}$/.test(value)) return Number(value)
  return value
}

export function publishRequestOf(
  table: string,
  filename: string | undefined,
  options: UploadOptions,
): JobRequest['publish'] {
  // The file of a whole dataset has no missing features.
  if (options.deleteMissing && options.mode === 'append')
    throw new Problem('conflict', 'An append removes nothing: deleteMissing belongs to mode=update.')
  const {
    title,
    description: about,
    license,
    attribution,
    contact,
    citation,
    updateFrequency,
    keywords,
    credits,
    extractPrice,
    visibility,
    filename: _,
    types,
    inspection: _inspection,
    schema,
    ...compile
  } = options
  return {
    table,
    file: filename ? basename(filename) : `${table || 'file'} (upload)`,
    description: {
      title,
      description: about,
      license,
      attribution,
      contact,
      citation,
      updateFrequency,
      credits,
      extractPrice,
      visibility,
      keywords: keywords === undefined ? undefined : splitKeywords(keywords),
    },
    ...compile,
    types: types === undefined ? undefined : columnTypesOf(types),
    schema: schema === undefined ? undefined : parseSchema(schema),
  }
}

function columnTypesOf(types: string): JobRequest['publish']['types'] {
  try {
    return parseColumnTypes(types)
  } catch (error) {
    if (error instanceof ColumnTypesError) throw invalidInput('types', error.message)
    throw error
  }
}
