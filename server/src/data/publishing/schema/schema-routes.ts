import { publishingSchemaSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import { invalidInput } from '../../../base/problem.ts'
import type { Config } from '../../../base/settings/config.ts'
import type { App } from '../../../http/fastify-app.ts'
import { LONG_BODY_LIMIT, parseInTurn } from '../../../http/json-bodies.ts'
import { security, tags } from '../../../http/openapi.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { type Publishers, tableOf } from '../publishers.ts'
import type { Versions } from '../versions.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { checkSchema, hasShapeOfSchema } from './parse-schema.ts'
import { describedSchema, schemaOfVersion } from './schema-of-version.ts'

interface SchemaRouteDeps {
  versions: Versions
  catalog: Catalog
  config: Pick<Config, 'maxColumns'>
}

const params = Type.Object({ table: Type.String() })
const documented = {
  tags: [tags.publishing],
  security: [...security.key, ...security.token],
  params,
}
/** Room for the names and descriptions of each column that a dataset may have. */
const BYTES_PER_COLUMN = 1024
const MIN_BODY_BYTES = LONG_BODY_LIMIT
const MAX_BODY_BYTES = 4 << 20

/** The largest schema that a service takes whose datasets may have so many columns. */
export function schemaBodyLimit(columns: number): number {
  return Math.min(MAX_BODY_BYTES, Math.max(MIN_BODY_BYTES, columns * BYTES_PER_COLUMN))
}

const isFixed = Type.Boolean({
  description:
    'Whether new versions are checked. If not, the other members are those of the current version. `false` in a request removes the schema.',
})

/** What the publisher fixed about a dataset. */
export function schemaRoutes(app: App, deps: SchemaRouteDeps, publishers: Publishers): void {
  const { versions, catalog, config } = deps
  app.get('/v1/dataset/:table/schema', {
    schema: {
      ...documented,
      problems: ['not-administrator'],
      summary: 'What is fixed about the columns of a dataset',
      description: 'For its publishers.',
      response: { 200: Type.Object({ isFixed, ...publishingSchemaSchema.properties }) },
    },
    onRequest: publishers.ofDataset,
    handler: async (request) => {
      const dataset = await catalog.find(tableOf(request))
      const schema = await versions.schema(dataset.table)
      return {
        isFixed: schema !== null,
        ...(schema ? describedSchema(schema, dataset) : schemaOfVersion(dataset)),
      }
    },
  })

  void app.register(async (scope: App) => {
    readSchemaBodies(scope, config.maxColumns)
    const schemas = new OneAtATime()
    scope.put('/v1/dataset/:table/schema', {
      bodyLimit: schemaBodyLimit(config.maxColumns),
      schema: {
        ...documented,
        problems: ['not-administrator'],
        summary: 'Fix the columns of a dataset',
        description:
          'The next version is read by the schema and checked against it: a missing column, a value of another type, or far fewer rows than before stop the publishing, unless it is confirmed with `ignoreSchema`. Titles, descriptions and units apply at once, and replace all earlier ones. The current version does not change.',
        body: Type.Object(
          { isFixed: Type.Optional(isFixed), ...publishingSchemaSchema.properties },
          { additionalProperties: false },
        ),
        response: { 204: Type.Unsafe<undefined>({ description: 'Stored.' }) },
      },
      onRequest: publishers.ofDataset,
      preParsing: async (request, reply) => {
        // By key or user, so that nobody waits for a colleague whose body arrives slowly.
        const { origin } = publishers.publisherOf(request)
        await schemas.begin(origin.actor, request.raw, reply.raw)
      },
      handler: async (request, reply) => {
        const { isFixed: keeps = true, ...schema } = request.body
        const { origin, organizationId } = publishers.publisherOf(request)
        await versions.fixSchema({
          ...{ table: tableOf(request), origin, ownerId: organizationId },
          schema: keeps ? checkSchema(schema) : null,
        })
        return reply.code(204).send(undefined)
      },
    })
  })
}

/** The shape is checked before parsing. */
function readSchemaBodies(scope: App, columns: number): void {
  const parse = scope.getDefaultJsonParser('error', 'error')
  scope.removeContentTypeParser('application/json')
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    parseInTurn(request, done, () => {
      if (hasShapeOfSchema(body, columns)) parse(request, body.toString(), done)
      else
        done(
          invalidInput(
            'body',
            `is nested more deeply, or has more values, than a schema of ${columns} columns`,
          ),
        )
    })
  })
}
