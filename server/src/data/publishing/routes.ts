import { Type } from 'typebox'
import type { PublisherDeps } from '../../accounts/access/publisher.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { LONG_BODY_LIMIT } from '../../http/json-bodies.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { OpenSnapshots } from '../catalog/open-snapshots.ts'
import { descriptionBody, descriptionOf } from './description-schema.ts'
import { draftItemsRoute } from './draft-items-route.ts'
import { Publishers, tableOf } from './publishers.ts'
import type { Publishing } from './publishing.ts'
import { schemaRoutes } from './schema/schema-routes.ts'
import { type UploadRouteDeps, uploadRoutes } from './upload-routes.ts'
import { versionRoutes } from './version-routes.ts'
import type { Versions } from './versions.ts'

interface PublishingRouteDeps extends PublisherDeps, UploadRouteDeps {
  catalog: Catalog
  publishing: Publishing
  versions: Versions
  snapshots: OpenSnapshots
}

const params = Type.Object({ table: Type.String() })

export function publishingRoutes(app: App, deps: PublishingRouteDeps): void {
  const publishers = new Publishers(deps)
  uploadRoutes(app, deps, publishers)
  describeRoute(app, deps, publishers)
  unpublishRoute(app, deps, publishers)
  schemaRoutes(app, deps, publishers)
  versionRoutes(app, deps, publishers)
  draftItemsRoute(app, deps, publishers)
}

function describeRoute(app: App, { publishing }: PublishingRouteDeps, publishers: Publishers): void {
  app.patch('/v1/dataset/:table', {
    bodyLimit: LONG_BODY_LIMIT,
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
