import { EXTRACT_PRICES } from '@wayleave/contract/extract-prices'
import { publishingSchemaSchema } from '@wayleave/contract/records'
import { UPDATE_FREQUENCIES, type UpdateFrequency } from '@wayleave/contract/update-frequencies'
import { VISIBILITIES, type Visibility } from '@wayleave/contract/visibilities'
import type { ColumnType } from '@wayleave/geodata/features'
import { type Static, Type } from 'typebox'
import type { Origin } from '../../../base/events/events.ts'
import { compileValidator } from '../../../http/compile-schemas.ts'
import { isTable } from '../../catalog/dataset.ts'
import { COLUMN_TYPES } from '../column-types.ts'
import { HEADER_LINES, SKIPPED_LINES } from '../line-counts.ts'
import type { PublishRequest } from '../publish-request.ts'

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const nullableText = Type.Union([Type.String({ maxLength: 1000 }), Type.Null()])

const columnType = Type.Unsafe<ColumnType>(Type.Enum([...COLUMN_TYPES]))

/**
 * The part of the request that a job stores, so that another process can publish it. The limits equal those
 * of the routes or are wider.
 */
const storedRequest = Type.Object(
  {
    table: Type.String(),
    ownerId: text(100),
    file: Type.String({ maxLength: 100_000 }),
    description: Type.Object(
      {
        title: text(1000),
        description: text(20_000),
        license: text(1000),
        attribution: text(2000),
        contact: text(1000),
        citation: text(4000),
        updateFrequency: Type.Optional(Type.Unsafe<UpdateFrequency>(Type.Enum([...UPDATE_FREQUENCIES]))),
        keywords: Type.Optional(Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 2000 })),
        credits: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
        extractPrice: Type.Optional(Type.Union([Type.Enum([...EXTRACT_PRICES]), Type.Null()])),
        visibility: Type.Optional(Type.Unsafe<Visibility>(Type.Enum([...VISIBILITIES]))),
      },
      { additionalProperties: false },
    ),
    note: text(4000),
    format: text(100),
    layer: text(1000),
    crs: text(20_000),
    allowInaccurateCrs: Type.Optional(Type.Boolean()),
    encoding: text(1000),
    longitude: text(1000),
    latitude: text(1000),
    geometryColumn: text(1000),
    geometry: Type.Optional(Type.Boolean()),
    header: Type.Optional(Type.Boolean()),
    skipLines: Type.Optional(Type.Integer(SKIPPED_LINES)),
    headerLines: Type.Optional(Type.Integer(HEADER_LINES)),
    types: Type.Optional(Type.Record(Type.String({ maxLength: 1000 }), columnType)),
    maxProblems: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    dryRun: Type.Optional(Type.Boolean()),
    idColumn: text(1000),
    timeColumn: text(1000),
    skipInvalid: Type.Optional(Type.Boolean()),
    sample: Type.Optional(Type.Boolean()),
    tiles: Type.Optional(Type.Boolean()),
    buildExports: Type.Optional(Type.Boolean()),
    schema: Type.Optional(publishingSchemaSchema),
    ignoreSchema: Type.Optional(Type.Boolean()),
    draft: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Type.Unsafe<'append' | 'update'>(Type.Enum(['append', 'update']))),
    deleteMissing: Type.Optional(Type.Boolean()),
    upload: text(100),
    origin: Type.Object({ actor: Type.String(), address: nullableText, requestId: nullableText }),
    uploadBytes: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
)
type StoredRequest = Static<typeof storedRequest>

/** Compiled: a job may have a schema of thousands of columns, for which an interpreter takes 100 ms. */
const validate = compileValidator({ schema: storedRequest, httpPart: 'body' })

/** A request whose file is an upload; `table` is empty for an inspection for no dataset. The process that reads it determines the path. */
export interface JobRequest {
  publish: Omit<PublishRequest, 'path' | 'parts' | 'file'> & { file: string }
  origin: Origin
  /** The size of the complete upload, in bytes. A file of another size is incomplete. */
  uploadBytes: number
  /** The job whose upload is taken, if it is not this one's. */
  upload?: string
}

export function printJobRequest({ publish, origin, uploadBytes, upload }: JobRequest): string {
  return JSON.stringify({ ...publish, origin, uploadBytes, upload } satisfies StoredRequest)
}

/** Returns null if the value is not a request that this program has written. */
export function parseJobRequest(stored: string | null): JobRequest | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(stored ?? 'null')
  } catch {
    return null
  }
  if (!isStoredRequest(parsed) || !(parsed.table === '' || isTable(parsed.table))) return null
  const { origin, uploadBytes, upload, ...publish } = parsed
  return { publish, origin, uploadBytes, ...(upload !== undefined && { upload }) }
}

function isStoredRequest(value: unknown): value is StoredRequest {
  return validate(value)
}
