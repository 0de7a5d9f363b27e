import { JOB_KINDS, JOB_STATES, type JobKind, type JobState } from '@wayleave/contract/job-states'
import { jobSchema, pageByIdSchema } from '@wayleave/contract/records'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  authenticatePublisher,
  maySeeJob,
  type Publisher,
  type PublisherDeps,
  writableTables,
} from '../../../accounts/access/publisher.ts'
import type { App } from '../../../http/fastify-app.ts'
import { withoutBody } from '../../../http/headers.ts'
import { security, tags } from '../../../http/openapi.ts'
import { readPage } from '../../../http/schemas.ts'
import type { Jobs } from './jobs.ts'

const documented = { tags: [tags.publishing], security: [...security.key, ...security.token] }
const params = Type.Object({ id: Type.String() })
const listing = Type.Object(
  {
    kind: Type.Unsafe<JobKind>({
      type: 'string',
      enum: [...JOB_KINDS],
      default: 'publish',
      description:
        'Publishings, or builds of download files (`export`) or of vector tiles (`tiles`, and `part` for their parts).',
    }),
    state: Type.Optional(Type.Unsafe<JobState>({ type: 'string', enum: [...JOB_STATES] })),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows a page.' }),
    after: Type.Optional(
      Type.String({ pattern: '^\\w{1,40}$', description: 'The `next` of the page before.' }),
    ),
  },
  { additionalProperties: false },
)

/** Jobs are for the operator, and for publishers those of their organization. */
export function jobRoutes(app: App, { jobs, ...deps }: PublisherDeps & { jobs: Jobs }): void {
  const publisherOf = (request: FastifyRequest, reply: FastifyReply) =>
    authenticatePublisher(deps, request, reply)
  /** For a key that may not write the table, the job does not exist, as in the list. */
  const findVisible = (publisher: Publisher, id: string) => jobs.find(id, (job) => maySeeJob(publisher, job))

  app.get('/v1/jobs', {
    schema: {
      ...documented,
      problems: ['not-administrator', 'permission-missing'],
      summary: 'Jobs, newest first',
      description:
        'With a key: those of the tables that it may write. Publishers see those of their organization.',
      querystring: listing,
      response: { 200: pageByIdSchema(jobSchema) },
    },
    handler: async (request, reply) => {
      const publisher = await publisherOf(request, reply)
      const tables = writableTables(publisher)
      const { organizationId: ownerId } = publisher
      const { kind, state, after, limit: pageLimit } = request.query
      return readPage(pageLimit, (limit) => jobs.list({ kind, state, after, limit, tables, ownerId }))
    },
  })

  app.get('/v1/jobs/:id', {
    schema: {
      ...documented,
      problems: ['not-administrator'],
      summary: 'The progress of a job and, if it publishes, its report',
      description: '404 for a key that may not write the table.',
      params,
      response: { 200: jobSchema },
    },
    handler: async (request, reply) => findVisible(await publisherOf(request, reply), request.params.id),
  })

  app.delete('/v1/jobs/:id', {
    schema: {
      ...documented,
      problems: ['not-administrator', 'conflict'],
      summary: 'Cancel a job',
      description:
        'The file is not published, also not after a restart; what a build job makes is built again when it is next needed. 409 if the job has ended. Needs a platform key that may write the table (404 for others), or a platform administrator’s token.',
      params,
      response: { 200: jobSchema },
    },
    onRequest: withoutBody,
    handler: async (request, reply) => {
      const publisher = await publisherOf(request, reply)
      const { id } = await findVisible(publisher, request.params.id)
      return jobs.cancel(publisher.origin, id)
    },
  })
}
