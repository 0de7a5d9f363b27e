import { type Static, Type } from 'typebox'
import { EXTRACT_PRICES } from '../extract-prices.ts'
import { DATASET_ACCESS, VISIBILITIES } from '../visibilities.ts'
import { nullable, oneOf } from './schema-parts.ts'

export const bbox = nullable(
  Type.Unsafe<[number, number, number, number]>({
    type: 'array',
    items: { type: 'number' },
    minItems: 4,
    maxItems: 4,
    description: 'West, south, east, north in WGS84.',
  }),
)
export const geometryType = nullable(
  Type.String({ description: '`Geometry` if types are mixed; null for a table without geometry.' }),
)
export const geometryTypes = Type.Array(Type.String(), { description: 'The types that occur.' })
const timeExtent = nullable(
  Type.Unsafe<[string, string]>({
    type: 'array',
    items: { type: 'string' },
    minItems: 2,
    maxItems: 2,
    description: 'The earliest and the latest value of the time column; null if there is none.',
  }),
)

export const columnSchema = Type.Object({
  name: Type.String(),
  type: oneOf(['boolean', 'integer', 'number', 'text', 'date', 'timestamp', 'json']),
  nullable: Type.Boolean(),
  title: Type.Optional(Type.String({ description: 'Its name for people, if the publisher has given one.' })),
  description: Type.Optional(
    Type.String({ description: 'What it holds, if the publisher has described it.' }),
  ),
  unit: Type.Optional(Type.String({ description: 'The unit of its values, such as `km` or `°C`.' })),
})

export const idColumnSchema = Type.Object(
  { name: Type.String(), type: oneOf(['integer', 'text']) },
  {
    description:
      'Where the ids of features are a column, as in most files, it has this name: one of `columns`, or a further one. Null for a version from before this was recorded.',
  },
)

/** A format that a version can be downloaded in. */
export const offeredFormatSchema = Type.Object({
  format: Type.String(),
  mediaType: Type.String(),
  url: Type.String(),
  bytes: nullable(
    Type.Integer({
      description: 'The size of the file; null if it is not built yet or the size is not known.',
    }),
  ),
})

/** How far the vector tiles of a version are. */
export const tilesSchema = Type.Object({
  state: oneOf(['pending', 'building', 'ready', 'failed']),
  progress: nullable(Type.Number({ description: 'From 0 to 1 while they are built.' })),
  maxZoom: nullable(Type.Integer({ description: 'The deepest zoom, once they are ready.' })),
  reason: nullable(Type.String({ description: 'Why they could not be built.' })),
})

export type TilesRecord = Static<typeof tilesSchema>

export const datasetOwnerSchema = Type.Object({ organizationId: Type.String(), name: Type.String() })

export const datasetSchema = Type.Object({
  table: Type.String(),
  title: Type.String(),
  description: Type.String({ description: 'Markdown.' }),
  license: Type.String({ description: 'An SPDX identifier, a URL or a name.' }),
  attribution: Type.String({ description: 'Whom users must name.' }),
  contact: Type.String({ description: 'A mail address, a URL or a name; empty if there is none.' }),
  citation: Type.String({ description: 'How to cite the dataset; empty if that is not stated.' }),
  updateFrequency: Type.String({
    description: 'How often it is updated, such as `daily` or `annual`; empty if that is not stated.',
  }),
  keywords: Type.Array(Type.String()),
  geometryType,
  geometryTypes,
  bbox,
  timeExtent,
  rows: Type.Integer(),
  columns: Type.Array(columnSchema),
  idColumn: nullable(idColumnSchema),
  version: Type.Integer(),
  updatedAt: Type.String(),
  visibility: oneOf(VISIBILITIES, { description: 'Who sees the dataset and who gets its data.' }),
  /** The organization that publishes it; null for the operator. */
  owner: nullable(datasetOwnerSchema),
  credits: Type.Integer({ description: 'The price of one download in credits.' }),
  extractPrice: nullable(
    oneOf(EXTRACT_PRICES, {
      description:
        'What a file of filtered rows costs: its share of the price of a download, rounded up (`share`), nothing (`free`), or that price (`whole`). Null: what the service says, `share` by default. `HEAD` tells the price in `Wayleave-Credits`.',
    }),
  ),
  formats: Type.Array(offeredFormatSchema),
  /** Null for a table, or a dataset that was published without tiles. */
  tiles: nullable(tilesSchema),
  sample: nullable(Type.String({ description: 'The URL of the free sample; null if there is none.' })),
})

/** The public metadata of a dataset. */
export type DatasetRecord = Static<typeof datasetSchema>

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const count = Type.Integer({ minimum: 0 })

const columnStatisticsSchema = Type.Object({
  nulls: count,
  distinct: count,
  isExact: Type.Boolean({ description: 'False if `distinct` is an estimate.' }),
  min: Type.Optional(value),
  max: Type.Optional(value),
  mean: Type.Optional(Type.Number()),
  histogram: Type.Optional(
    Type.Array(count, { description: 'Rows in intervals of equal width between `min` and `max`.' }),
  ),
  frequent: Type.Optional(
    Type.Array(Type.Object({ value, count }), { description: 'The most frequent values.' }),
  ),
})

/** The metadata of one dataset, with statistics, which would be most of a list of datasets. */
export const datasetDetailsSchema = Type.Object({
  ...datasetSchema.properties,
  access: Type.Array(oneOf(DATASET_ACCESS), { description: 'How the caller may get its data.' }),
  statistics: nullable(
    Type.Record(Type.String(), columnStatisticsSchema, {
      description: 'By column; null for datasets that were published before there were any.',
    }),
  ),
})

export type DatasetDetails = Static<typeof datasetDetailsSchema>

export const versionChangesSchema = Type.Object(
  {
    from: Type.Integer({ description: 'The version before.' }),
    added: count,
    removed: count,
    changed: count,
  },
  { description: 'How many features differ from the version before.' },
)

export const archiveSchema = Type.Object({
  version: Type.Integer(),
  current: Type.Boolean(),
  createdAt: Type.String(),
  note: Type.String({ description: 'What the publisher says about this version; may be empty.' }),
  changes: nullable(versionChangesSchema),
  rows: Type.Integer(),
  geometryType,
  geometryTypes,
  bbox,
  timeExtent,
  columns: Type.Array(columnSchema),
  formats: Type.Array(offeredFormatSchema),
})

export const datasetGrantSchema = Type.Object({
  id: Type.String(),
  table: Type.String(),
  organizationId: Type.String(),
  organizationName: Type.String(),
  access: nullable(
    Type.Array(oneOf(DATASET_ACCESS), {
      description:
        'What it is limited to; null for everything. Without `archives`, the current version only.',
    }),
  ),
  credits: nullable(
    Type.Integer({ description: 'The price of one download; null for that of the dataset.' }),
  ),
  expiresAt: nullable(Type.String({ description: 'Null: until it is removed.' })),
  createdBy: Type.String({ description: 'Who: `user:<id>`, `key:<id>` or `operator`.' }),
  createdAt: Type.String(),
})

/** The right of an organization to a dataset, beyond its add-ons. */
export type DatasetGrantRecord = Static<typeof datasetGrantSchema>

/** One version of a dataset. */
export type ArchiveRecord = Static<typeof archiveSchema>
