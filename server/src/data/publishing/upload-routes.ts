import { rm } from 'node:fs/promises'
import multipart from '@fastify/multipart'
import { jobSchema } from '@wayleave/contract/records'
import { timeSlices } from '@wayleave/geodata/features'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { maySeeJob, type Publisher } from '../../accounts/access/publisher.ts'
import { Problem } from '../../base/problem.ts'
import type { Config } from '../../base/settings/config.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { type Publishers, tableOf } from './publishers.ts'
import type { Publishing } from './publishing.ts'
import type { JobRequest } from './upload-jobs/job-request.ts'
import type { Jobs } from './upload-jobs/jobs.ts'
import {
  asFormProblem,
  FORM_FIELD_BYTES,
  isPartAFile,
  type ReceivedUpload,
  receive,
} from './upload-jobs/receive-form.ts'
import {
  formOptions,
  inspectOptions,
  MAX_FORM_PARTS,
  type OptionSchema,
  publishRequestOf,
  uploadOptions,
} from './upload-options.ts'

export interface UploadRouteDeps {
  publishing: Publishing
  jobs: Jobs
  baseUrl: BaseUrl
  config: Config
}

/** Any other media type is taken as the file too. */
function uploadBody(options: OptionSchema) {
  const { properties } = formOptions(options)
  return {
    required: true,
    description:
      'The file itself, or a form with the part `file` and the options. With `inspection`, whose file is taken, there is no file, and no body is needed.',
    content: {
      'application/octet-stream': { schema: { type: 'string', format: 'binary', minLength: 1 } },
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['file'],
          properties: { ...properties, file: { type: 'string', format: 'binary', minLength: 1 } },
          additionalProperties: false,
        },
      },
    },
  }
}

const documented = {
  tags: [tags.publishing],
  security: [...security.key, ...security.token],
  problems: ['not-administrator', 'sandbox-unavailable', 'conflict', 'upload-limit-reached'] as const,
  response: { 202: jobSchema },
}

export function uploadRoutes(app: App, deps: UploadRouteDeps, publishers: Publishers): void {
  const { config } = deps
  // A separate Fastify scope: only here is a body of any content type a file, which is streamed instead of
  // being read into memory.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    await scope.register(multipart, {
      isPartAFile,
      limits: {
        // Fields that say they are JSON count as files.
        files: MAX_FORM_PARTS,
        fields: MAX_FORM_PARTS - 1,
        fieldSize: FORM_FIELD_BYTES,
        fileSize: config.maxUploadBytes,
      },
    })
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

    scope.put('/v1/dataset/:table', {
      bodyLimit: config.maxUploadBytes,
      schema: {
        ...documented,
        problems: [...documented.problems],
        summary: 'Publish a file as a dataset’s new version',
        description:
          'The file is the body, or the part `file` of a multipart form whose other parts are the options. Needs a platform key with `write` or a platform administrator’s token, or those of a publisher whose dataset it is or becomes. Returns 202 with a job to follow.',
        documented: { requestBody: uploadBody(uploadOptions) },
        params: Type.Object({ table: Type.String() }),
        querystring: uploadOptions,
      },
      onRequest: publishers.ofUpload,
      handler: async (request, reply) => {
        const table = tableOf(request as FastifyRequest<{ Params: { table: string } }>)
        return startJob(request, reply, { kind: 'publish', table, schema: uploadOptions }, deps, publishers)
      },
    })

    scope.post('/v1/inspect', {
      bodyLimit: config.maxUploadBytes,
      schema: {
        ...documented,
        problems: [...documented.problems, 'not-found'],
        summary: 'Inspect a file without publishing it',
        description:
          'Like an upload. Returns 202 with a job whose `inspection` has the first rows, the columns with their types and the values that disagree, the extent, the rows that cannot be published and what would be renamed or dropped. The file is kept for an hour: `PUT /v1/dataset/<table>?inspection=<job>` publishes it.',
        documented: { requestBody: uploadBody(inspectOptions) },
        querystring: inspectOptions,
      },
      onRequest: publishers.ofInspection,
      handler: async (request, reply) => {
        const { table = '' } = request.query as { table?: string }
        return startJob(request, reply, { kind: 'inspect', table, schema: inspectOptions }, deps, publishers)
      },
    })
  })
}

/** Receives the file, starts the job that publishes or inspects it, and responds with the job. */
async function startJob(
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, table, schema }: { kind: 'publish' | 'inspect'; table: string; schema: OptionSchema },
  deps: UploadRouteDeps,
  publishers: Publishers,
) {
  const { publishing, jobs, config } = deps
  const publisher = publishers.publisherOf(request)
  // Nodes without workers accept files that other nodes read.
  if (config.role !== 'api') await publishing.requireSandbox()
  const stopReading = (error: unknown): never => {
    // The rest of the body is not needed any more.
    reply.header('connection', 'close')
    reply.raw.once('finish', () => request.raw.destroy())
    throw request.isMultipart() ? asFormProblem(error) : error
  }
  const arriving = await jobs.beginUpload(publisher.organizationId).catch(stopReading)
  try {
    const id = jobs.newId()
    const path = await jobs.uploadPath(id)
    const { maxUploadBytes: maxBytes, minFreeBytes } = config
    const isNextVersion = await publishers.hasDataset(table)
    const received = await receive(request, path, { maxBytes, minFreeBytes, take: arriving.take }, schema)
      .then(async (upload) => {
        // It would become another dataset, with the standard visibility.
        if (isNextVersion && !(await publishers.hasDataset(table)))
          throw new Problem('conflict', 'The dataset was removed while the file was sent.')
        return jobRequestOf(upload, table, publisher, jobs)
      })
      .catch(async (error: unknown) => {
        await rm(path, { force: true })
        return stopReading(error)
      })
    const job = await jobs.start(id, received, kind)
    return await reply
      .code(202)
      .header('location', `${deps.baseUrl.of(request)}/v1/jobs/${job.id}`)
      .send(job)
  } finally {
    arriving.end()
  }
}

async function jobRequestOf(
  { options, filename, uploadBytes }: ReceivedUpload,
  table: string,
  publisher: Publisher,
  jobs: Jobs,
): Promise<JobRequest> {
  const { inspection } = options
  const inspected = inspection === undefined ? null : await inspectedFile(inspection, publisher, jobs)
  // Reading a schema of thousands of columns takes several milliseconds.
  if (options.schema !== undefined) await timeSlices.next(publisher.origin.actor)
  return {
    publish: {
      ...publishRequestOf(table, filename ?? inspected?.file, options),
      ...(publisher.organizationId !== null && { ownerId: publisher.organizationId }),
    },
    origin: publisher.origin,
    uploadBytes,
    ...(inspected && { uploadBytes: inspected.uploadBytes, upload: inspected.upload }),
  }
}

function inspectedFile(inspection: string, publisher: Publisher, jobs: Jobs) {
  return jobs.inspectedUpload(inspection, (job) => maySeeJob(publisher, job))
}
