import { archiveSchema } from '@wayleave/contract/records'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { notFound } from '../../base/problem.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { archiveMetadata } from '../catalog/metadata.ts'
import { boundedText, descriptionProperties, NO_ZERO } from './description-schema.ts'
import { type Publishers, tableOf } from './publishers.ts'
import type { VersionChange, Versions } from './versions.ts'

interface VersionRouteDeps {
  versions: Versions
  baseUrl: BaseUrl
}

const params = Type.Object({ table: Type.String() })
const versionParams = Type.Object({ table: Type.String(), version: Type.String() })
const current = Type.Object({
  table: Type.String(),
  version: Type.Integer({ description: 'The version that is current now.' }),
})
const nothing = (description: string) => Type.Unsafe<undefined>({ description })
const documented = {
  tags: [tags.publishing],
  security: [...security.key, ...security.token],
}

/** What publishers do with versions after they were published. */
export function versionRoutes(app: App, deps: VersionRouteDeps, publishers: Publishers): void {
  const changeOf = (request: FastifyRequest): VersionChange => {
    const { origin, organizationId } = publishers.publisherOf(request)
    const table = tableOf(request as FastifyRequest<{ Params: { table: string } }>)
    return { table, origin, ownerId: organizationId }
  }
  draftRoutes(app, deps, publishers, changeOf)
  archiveRoutes(app, deps, publishers, changeOf)
}

type ChangeOf = (request: FastifyRequest) => VersionChange

function draftRoutes(
  app: App,
  { versions, baseUrl }: VersionRouteDeps,
  publishers: Publishers,
  changeOf: ChangeOf,
): void {
  app.get('/v1/dataset/:table/draft', {
    schema: {
      ...documented,
      problems: ['not-administrator'],
      summary: 'The version that waits for its release',
      description: '404 if there is none.',
      params,
      response: { 200: archiveSchema },
    },
    onRequest: publishers.ofDataset,
    handler: async (request) => {
      const table = tableOf(request)
      return archiveMetadata(table, await versions.draft(table), false, baseUrl.of(request))
    },
  })

  app.delete('/v1/dataset/:table/draft', {
    schema: {
      ...documented,
      problems: ['not-administrator'],
      summary: 'Discard the version that waits for its release',
      params,
      response: { 204: nothing('Discarded.') },
    },
    onRequest: [publishers.ofDataset, withoutBody],
    handler: async (request, reply) => {
      await versions.discardDraft(changeOf(request))
      return reply.code(204).send(undefined)
    },
  })

  app.post('/v1/dataset/:table/release', {
    schema: {
      ...documented,
      problems: ['not-administrator', 'conflict'],
      summary: 'Release a draft',
      description:
        'Makes the version that was published with `draft` the current one. A dataset whose visibility is `draft` becomes visible: to everybody, unless the body or WAYLEAVE_DEFAULT_VISIBILITY says otherwise. 409 if there is no draft.',
      params,
      body: Type.Object({ visibility: descriptionProperties.visibility }, { additionalProperties: false }),
      response: { 200: current },
    },
    onRequest: publishers.ofDataset,
    handler: async (request) => {
      const change = changeOf(request)
      const { visibility } = request.body
      return { table: change.table, version: await versions.release({ ...change, visibility }) }
    },
  })
}

function archiveRoutes(
  app: App,
  { versions }: VersionRouteDeps,
  publishers: Publishers,
  changeOf: ChangeOf,
): void {
  app.post('/v1/dataset/:table/rollback', {
    schema: {
      ...documented,
      problems: ['not-administrator', 'conflict'],
      summary: 'Roll back to an earlier version',
      description:
        'Makes a new version with the data of an earlier one. 409 if that is the current one. The description does not change.',
      params,
      body: Type.Object(
        {
          version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
          note: boundedText(2000, 'What is new in this version.'),
        },
        { additionalProperties: false },
      ),
      response: { 200: current },
    },
    onRequest: publishers.ofDataset,
    handler: async (request) => {
      const change = changeOf(request)
      return { table: change.table, version: await versions.rollBack({ ...change, ...request.body }) }
    },
  })

  app.patch('/v1/dataset/:table/archives/:version', {
    schema: {
      ...documented,
      problems: ['not-administrator'],
      summary: 'Change the note of a version',
      params: versionParams,
      body: Type.Object(
        {
          note: Type.String({
            maxLength: 2000,
            pattern: NO_ZERO,
            description: 'What is new in this version.',
          }),
        },
        { additionalProperties: false },
      ),
      response: { 204: nothing('Changed.') },
    },
    onRequest: publishers.ofDataset,
    handler: async (request, reply) => {
      await versions.describe({ ...changeOf(request), version: versionOf(request), ...request.body })
      return reply.code(204).send(undefined)
    },
  })

  app.delete('/v1/dataset/:table/archives/:version', {
    schema: {
      ...documented,
      problems: ['not-administrator', 'conflict'],
      summary: 'Delete a version',
      description: 'Its files go to the trash. 409 for the current version.',
      params: versionParams,
      response: { 204: nothing('Deleted.') },
    },
    onRequest: [publishers.ofDataset, withoutBody],
    handler: async (request, reply) => {
      await versions.delete({ ...changeOf(request), version: versionOf(request) })
      return reply.code(204).send(undefined)
    },
  })
}

function versionOf({ params }: { params: { version: string } }): number {
  if (!/^[1-9]\d{0,14}$/.test(params.version)) throw notFound('such version')
  return Number(params.version)
}
