import { publishingSchemaSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { Config } from '../../../base/settings/config.ts'
import { compileValidator } from '../../../http/compile-schemas.ts'
import type { App } from '../../../http/fastify-app.ts'
import { LONG_BODY_LIMIT } from '../../../http/json-bodies.ts'
import { security, tags } from '../../../http/openapi.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { type Publishers, tableOf } from '../publishers.ts'
import type { Versions } from '../versions.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { schemaOfVersion } from './schema-of-version.ts'
import { SchemaTexts } from './schema-texts.ts'

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

/** The body of a request that fixes a schema. */
const schemaBody = Type.Object(
  { isFixed: Type.Optional(isFixed), ...publishingSchemaSchema.properties },
  { additionalProperties: false },
)

/** The body of a response that has the schema of a dataset. */
const datasetSchemaBody = Type.Object({ isFixed, ...publishingSchemaSchema.properties })

/** What the publisher fixed about a dataset. */
export function schemaRoutes(app: App, deps: SchemaRouteDeps, publishers: Publishers): void {
  const { versions, catalog, config } = deps
  const texts = new SchemaTexts()
  const reads = new OneAtATime()
  app.get('/v1/dataset/:table/schema', {
    schema: {
      ...documented,
      problems: ['not-administrator'],
      summary: 'What is fixed about the columns of a dataset',
      description: 'For its publishers.',
      response: { 200: Type.Unsafe<Buffer>(datasetSchemaBody) },
    },
    onRequest: publishers.ofDataset,
    handler: async (request, reply) => {
      await reads.begin(publishers.publisherOf(request).origin.actor, request.raw, reply.raw)
      return reads.work(reply.raw, async () => {
        const { table, manifest } = await catalog.find(tableOf(request))
        const { fixed, notes } = await versions.schemaTexts(table)
        const body = await texts.write({
          schema: fixed ?? schemaOfVersion(manifest),
          notes,
          form: datasetSchemaBody,
        })
        return reply.type('application/json; charset=utf-8').send(body)
      })
    },
  })

  void app.register(async (scope: App) => {
    // They are parsed by the thread.
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    const writes = new OneAtATime()
    scope.put('/v1/dataset/:table/schema', {
      bodyLimit: schemaBodyLimit(config.maxColumns),
      schema: {
        ...documented,
        problems: ['not-administrator'],
        summary: 'Fix the columns of a dataset',
        description:
          'The next version is read by the schema and checked against it: a missing column, a value of another type, or far fewer rows than before stop the publishing, unless it is confirmed with `ignoreSchema`. Titles, descriptions and units apply at once, and replace all earlier ones. The current version does not change.',
        body: Type.Unsafe<Buffer>(schemaBody),
        response: { 204: Type.Unsafe<undefined>({ description: 'Stored.' }) },
      },
      validatorCompiler: compileMissing,
      onRequest: publishers.ofDataset,
      preParsing: async (request, reply) => {
        // By key or user, so that nobody waits for a colleague whose body arrives slowly.
        const { origin } = publishers.publisherOf(request)
        await writes.begin(origin.actor, request.raw, reply.raw)
        texts.expect()
      },
      handler: (request, reply) =>
        writes.work(reply.raw, async () => {
          const schema = await texts.read({
            bytes: request.body,
            columns: config.maxColumns,
            form: schemaBody,
          })
          const { origin, organizationId } = publishers.publisherOf(request)
          await versions.fixSchema({ table: tableOf(request), origin, ownerId: organizationId, schema })
          return reply.code(204).send(undefined)
        }),
    })
  })
}

/** Of bodies, only those that are missing are refused here: the thread validates the others. */
function compileMissing(part: Parameters<typeof compileValidator>[0]) {
  const validate = compileValidator(part)
  if (part.httpPart !== 'body') return validate
  return (body: unknown) => Buffer.isBuffer(body) || validate(body) || { error: validate.errors! }
}
