import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import multipart from '@fastify/multipart'
import { documentedAs, jobSchema } from '@wayleave/contract/records'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import {
  authenticatePublisher,
  type Publisher,
  type PublisherDeps,
  requireOwned,
  requireWrite,
} from '../../accounts/access/publisher.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import type { Config } from '../../base/settings/config.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { isTable } from '../catalog/dataset.ts'
import { COLUMN_TYPES, ColumnTypesError, parseColumnTypes } from './column-types.ts'
import {
  boundedText,
  descriptionBody,
  descriptionOf,
  descriptionProperties,
  NO_ZERO,
} from './description-schema.ts'
import { HEADER_LINES, SKIPPED_LINES } from './line-counts.ts'
import type { Publishing } from './publishing.ts'
import { splitKeywords } from './split-keywords.ts'
import type { JobRequest } from './upload-jobs/job-request.ts'
import type { Jobs } from './upload-jobs/jobs.ts'
import { receiveUpload } from './upload-jobs/receive-upload.ts'

interface PublishingRouteDeps extends PublisherDeps {
  catalog: Catalog
  publishing: Publishing
  jobs: Jobs
  baseUrl: BaseUrl
  config: Config
}

/** What `parseColumnTypes` accepts. */
const TYPES_PATTERN = `^( *[^\\r\\n\\u2028\\u2029\\x00]+ *= *(${COLUMN_TYPES.join('|')}) *(,|$))*$`

const uploadOptions = Type.Object(
  {
    ...descriptionProperties,
    note: boundedText(2000, 'What is new in this version.'),
    keywords: boundedText(2000, 'Separated by commas.'),
    filename: boundedText(255, 'The name of the file where the body is the file itself.'),
    format: boundedText(40, 'The format’s name if the file does not show it.'),
    layer: boundedText(200, 'The layer of a file that has several.'),
    crs: boundedText(20_000, 'The CRS if the file does not state it, such as EPSG:25832.'),
    allowInaccurateCrs: Type.Optional(
      Type.Boolean({
        description: 'Publish although the CRS cannot be brought to WGS84 within 20 m.',
      }),
    ),
    encoding: boundedText(
      40,
      'The encoding of the texts if the file does not state it, such as windows-1251.',
    ),
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
    dryRun: Type.Optional(
      Type.Boolean({
        description: 'Do everything except making the version visible; the job has the report.',
      }),
    ),
    idColumn: boundedText(200, 'The column that holds the features’ ids.'),
    timeColumn: boundedText(200, 'The column that `datetime` filters.'),
    skipInvalid: Type.Optional(
      Type.Boolean({ description: 'Publish the valid rows and report the others.' }),
    ),
    sample: Type.Optional(Type.Boolean({ description: 'False publishes no sample.' })),
    tiles: Type.Optional(Type.Boolean({ description: 'False builds no vector tiles.' })),
    buildExports: Type.Optional(
      Type.Boolean({ description: 'Build every download format before the version is shown.' }),
    ),
  },
  { additionalProperties: false },
)
type UploadOptions = Static<typeof uploadOptions>

/** Any other media type is taken as the file too. */
const UPLOAD_BODY = {
  required: true,
  description: 'The file itself, or a form with the part `file` and the options.',
  content: {
    'application/octet-stream': { schema: { type: 'string', format: 'binary', minLength: 1 } },
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file'],
        properties: { ...uploadOptions.properties, file: { type: 'string', format: 'binary', minLength: 1 } },
        additionalProperties: false,
      },
    },
  },
}

/** Options have up to 20,000 characters, each of up to four bytes. */
const FORM_FIELD_BYTES = 80_001

const params = Type.Object({ table: Type.String() })

export function publishingRoutes(app: App, deps: PublishingRouteDeps): void {
  const publishers = new Publishers(deps)
  uploadRoute(app, deps, publishers)
  describeRoute(app, deps, publishers)
  unpublishRoute(app, deps, publishers)
}

function tableOf(request: { params: { table: string } }): string {
  if (!isTable(request.params.table))
    throw notFound('such dataset: a table name has lower-case letters, digits and _')
  return request.params.table
}

class Publishers {
  readonly #deps: PublishingRouteDeps
  readonly #publishers = new WeakMap<FastifyRequest, Publisher>()

  constructor(deps: PublishingRouteDeps) {
    this.#deps = deps
  }

  /**
   * For a dataset that exists: requires the operator or a publisher of the organization that owns it. Authenticates
   * the caller before checking what is requested.
   */
  readonly ofDataset = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { publisher, table } = await this.#publisherOf(request, reply)
    if (publisher.organizationId !== null)
      requireOwned(publisher, table, await this.#deps.catalog.find(table))
  }

  /** The same for an upload, which may make a new dataset. */
  readonly ofUpload = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { publisher, table } = await this.#publisherOf(request, reply)
    const { organizationId } = publisher
    const dataset = organizationId === null ? null : await this.#deps.catalog.findIfAny(table)
    // Names are unique in the installation, so this cannot keep secret that the name of a hidden dataset is taken.
    if (dataset !== null && dataset.owner?.organizationId !== organizationId)
      throw new Problem('permission-missing', `The name "${table}" is taken by another publisher.`)
  }

  publisherOf(request: FastifyRequest): Publisher {
    return this.#publishers.get(request)!
  }

  async #publisherOf(request: FastifyRequest, reply: FastifyReply) {
    const tableIn = () => tableOf(request as FastifyRequest<{ Params: { table: string } }>)
    const publisher = await authenticatePublisher(this.#deps, request, reply, tableIn)
    const table = tableIn()
    requireWrite(publisher, table)
    this.#publishers.set(request, publisher)
    return { publisher, table }
  }
}

function uploadRoute(app: App, deps: PublishingRouteDeps, publishers: Publishers): void {
  const { config } = deps
  // A separate Fastify scope: only here is a body of any content type a file, which is streamed instead of
  // being read into memory.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    await scope.register(multipart, {
      limits: { files: 1, fields: 40, fieldSize: FORM_FIELD_BYTES, fileSize: config.maxUploadBytes },
    })
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

    scope.put('/v1/dataset/:table', {
      bodyLimit: config.maxUploadBytes,
      schema: {
        tags: [tags.publishing],
        summary: 'Publish a file as a dataset’s new version',
        description:
          'The file is the body, or the part `file` of a multipart form whose other parts are the options. Needs a platform key with `write` or a platform administrator’s token, or those of a publisher whose dataset it is or becomes. Returns 202 with a job to follow.',
        security: [...security.key, ...security.token],
        problems: ['not-administrator', 'sandbox-unavailable'],
        documented: { requestBody: UPLOAD_BODY },
        params,
        querystring: uploadOptions,
        response: { 202: jobSchema },
      },
      onRequest: publishers.ofUpload,
      handler: async (request, reply) => {
        const table = tableOf(request as FastifyRequest<{ Params: { table: string } }>)
        const job = await startJob(request, reply, table, publishers.publisherOf(request), deps)
        return reply
          .code(202)
          .header('location', `${deps.baseUrl.of(request)}/v1/jobs/${job.id}`)
          .send(job)
      },
    })
  })
}

/** Receives the file and starts the job that publishes it. */
async function startJob(
  request: FastifyRequest,
  reply: FastifyReply,
  table: string,
  { origin, organizationId }: Publisher,
  { publishing, jobs, config }: PublishingRouteDeps,
) {
  // Nodes without workers accept files that other nodes read.
  if (config.role !== 'api') await publishing.requireSandbox()
  const id = jobs.newId()
  const path = await jobs.uploadPath(id)
  const receiving = receive(request, path, config.maxUploadBytes).then(
    ({ options, filename, uploadBytes }) => ({
      publish: {
        ...publishRequestOf(table, filename, options),
        ...(organizationId !== null && { ownerId: organizationId }),
      },
      uploadBytes,
    }),
  )
  const { publish, uploadBytes } = await receiving.catch(async (error: unknown) => {
    await rm(path, { force: true })
    // The rest of the body is not needed any more.
    reply.header('connection', 'close')
    reply.raw.once('finish', () => request.raw.destroy())
    throw request.isMultipart() ? asFormProblem(error) : error
  })
  return jobs.start(id, { publish, origin, uploadBytes })
}

function describeRoute(app: App, { publishing }: PublishingRouteDeps, publishers: Publishers): void {
  app.patch('/v1/dataset/:table', {
    schema: {
      tags: [tags.publishing],
      problems: ['not-administrator'],
      summary: 'Change a dataset’s description, price or visibility',
      security: [...security.key, ...security.token],
      params,
      body: descriptionBody,
      response: { 204: Type.Unsafe<undefined>({ description: 'Changed.' }) },
    },
    onRequest: publishers.ofDataset,
    handler: async (request, reply) => {
      const { origin, organizationId } = publishers.publisherOf(request)
      await publishing.describe(tableOf(request), descriptionOf(request.body), origin, organizationId)
      return reply.code(204).send(undefined)
    },
  })
}

function unpublishRoute(app: App, { publishing }: PublishingRouteDeps, publishers: Publishers): void {
  app.delete('/v1/dataset/:table', {
    schema: {
      tags: [tags.publishing],
      summary: 'Remove a dataset with all its versions',
      problems: ['not-administrator'],
      security: [...security.key, ...security.token],
      params,
      response: { 204: Type.Unsafe<undefined>({ description: 'Removed.' }) },
    },
    onRequest: [publishers.ofDataset, withoutBody],
    handler: async (request, reply) => {
      const { origin, organizationId } = publishers.publisherOf(request)
      await publishing.unpublish(tableOf(request), origin, organizationId)
      return reply.code(204).send(undefined)
    },
  })
}

async function receive(request: FastifyRequest, path: string, maxBytes: number) {
  const query = request.query as UploadOptions
  if (request.isMultipart()) return receiveForm(request, path, query, maxBytes)
  if (!request.body) throw new Problem('invalid-input', 'There is no body: send the file as the body.')
  const uploadBytes = await receiveUpload(request.body as NodeJS.ReadableStream, path, maxBytes)
  return { options: query, filename: query.filename, uploadBytes }
}

async function receiveForm(request: FastifyRequest, path: string, query: UploadOptions, maxBytes: number) {
  const fields: Record<string, string> = {}
  let file: { name: string; uploadBytes: number } | null = null
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      // Options before the file are checked before it is received.
      checkOptions({ ...query, ...fields })
      const uploadBytes = await receiveUpload(part.file, path, maxBytes)
      if (part.file.truncated) throw new Problem('body-too-large')
      file = { name: basename(part.filename || ''), uploadBytes }
    } else {
      // The parser cuts off the value, which would then be another one.
      if (part.valueTruncated) throw invalidInput(part.fieldname.slice(0, 80), 'is too long')
      fields[part.fieldname] = String(part.value)
    }
  }
  if (!file) throw invalidInput('file', 'the form has no part "file"')
  const options = checkOptions({ ...query, ...fields })
  return { options, filename: options.filename ?? file.name, uploadBytes: file.uploadBytes }
}

/** The multipart parser reports a malformed form with a message only; all other errors have a code. */
function asFormProblem(error: unknown): unknown {
  if (error instanceof Problem || (error as { code?: string }).code !== undefined) return error
  return new Problem('invalid-input', `The form cannot be read: ${(error as Error).message}.`, {
    cause: error,
  })
}

/** Form fields are text, like query parameters, and are validated against the same schema. */
function checkOptions(fields: Record<string, unknown>): UploadOptions {
  const converted = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, convert(name, value)]),
  )
  const [first] = Value.Errors(uploadOptions, converted)
  if (!first) return converted as UploadOptions
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(uploadOptions.properties, name))
  if (unknown !== undefined) throw invalidInput(unknown.slice(0, 80) || 'form', 'is not a known field')
  throw invalidInput(first.instancePath.slice(1) || 'form', first.message)
}

/** The value of a form field in the type of its option; a text of another form stays as it is and is refused. */
function convert(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || !Object.hasOwn(uploadOptions.properties, name)) return value
  const { type } = uploadOptions.properties[name as keyof UploadOptions] as { type?: string }
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  if (type === 'integer' && /^\d{1,15}$/.test(value)) return Number(value)
  return value
}

function publishRequestOf(
  table: string,
  filename: string | undefined,
  options: UploadOptions,
): JobRequest['publish'] {
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
    ...compile
  } = options
  return {
    table,
    file: filename ? basename(filename) : `${table} (upload)`,
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
