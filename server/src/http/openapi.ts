import type { SwaggerOptions } from '@fastify/swagger'
import { EXPORT_FORMAT_NAMES } from '@wayleave/contract/export-formats'
import { problemSchema } from '@wayleave/contract/records'
import type { ProblemCode } from '../base/problem.ts'
import { version } from '../base/version.ts'
import { type About, aboutInfo } from './about.ts'
import { describeProperties, PARAMETER_DESCRIPTIONS } from './parameter-descriptions.ts'
import { byStatus, type DocumentedOperation, problemResponse, problemsOf } from './problem-responses.ts'

export const tags = {
  data: 'Data',
  catalog: 'Catalog',
  keys: 'API keys',
  signIn: 'Sign-in',
  organizations: 'Organizations',
  billing: 'Billing',
  publishing: 'Publishing',
  administration: 'Administration',
  operation: 'Operation',
} as const

declare module 'fastify' {
  interface FastifySchema {
    /** Problems of this route that its method, path, parameters and authentication do not imply. */
    problems?: readonly ProblemCode[]
    /** Parts of the OpenAPI operation that Fastify neither validates nor serializes. */
    documented?: Documented
  }
}

interface Documented {
  requestBody?: object
  isBodyOptional?: boolean
  responses?: Record<number, object>
}

type Options = Extract<SwaggerOptions, { openapi?: unknown }>
type Document = NonNullable<Options['openapi']>

/**
 * The API definition at /v1/openapi.json. The paths come from route schemas; the error responses and the form
 * of the path parameters are added here, because they are the same for many routes.
 */
export function openApiOptions(about: About): Options {
  return {
    openapi: openApiDocument(about),
    hideUntagged: true,
    transform: ({ schema, url }) => {
      const { problems, documented, ...rest } = schema ?? {}
      return { url, schema: { ...rest, 'x-problems': problems, 'x-documented': documented } as typeof rest }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('The definition is not OpenAPI 3.')
      return complete(document.openapiObject as unknown as Definition) as typeof document.openapiObject
    },
  }
}

function openApiDocument(about: About): Document {
  return {
    openapi: '3.0.3',
    info: {
      title: about.title,
      version,
      description:
        'Datasets to download and to query, and the API keys that unlock them. Data is read with an API key in the header `X-API-Key`; keys and organizations are managed with the Bearer token of a signed-in user. A method that a path does not have is 405, with `Allow`.',
      ...aboutInfo(about),
    },
    tags: Object.values(tags).map((name) => ({ name })),
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    },
  }
}

/** Route options for the two ways to authenticate. */
export const security = {
  key: [{ key: [] }],
  token: [{ token: [] }],
  /** A platform administrator's token, or a platform key with `admin`. */
  administrator: [{ token: [] }, { key: [] }] as Record<string, string[]>[],
}

interface Operation extends DocumentedOperation {
  parameters?: { name: string; in: string; schema?: object; description?: string }[]
  requestBody?: { required?: boolean; content?: Record<string, { schema: object }> }
  responses: Record<string, object>
  'x-problems'?: readonly ProblemCode[]
  'x-documented'?: Documented
}

/** The parts of a definition that are completed here. */
export interface Definition {
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, object>; responses?: Record<string, object> }
}

const idPattern = (kind: string) => ({ type: 'string', pattern: `^${kind}_[0-9A-Za-z]{20}$` })

/**
 * The form of path parameters. It is documented and not validated, because a segment of another form is 404
 * like an unknown one, while validation would respond 400.
 */
const PATH_PARAMETERS: Record<string, object> = {
  table: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,62}$' },
  format: { type: 'string', enum: EXPORT_FORMAT_NAMES },
  version: { type: 'integer', minimum: 1, maximum: 999_999_999 },
  file: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,62}\\.[a-z.]{2,12}$' },
  keyId: idPattern('key'),
  organizationId: idPattern('org'),
  userId: idPattern('usr'),
  invitationId: idPattern('inv'),
  blockId: idPattern('blk'),
  requestId: idPattern('req'),
  webhookId: idPattern('whk'),
  messageId: idPattern('msg'),
  productId: idPattern('prd'),
  orderId: idPattern('ord'),
  invoiceFile: { type: 'string', pattern: '^[A-Z0-9-]{1,40}\\.pdf$' },
  id: idPattern('job'),
}

/** Replaces `documentedAs` (see the contract) by its members, in every schema of an operation. */
function withDocumentedRules(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withDocumentedRules)
  if (typeof part !== 'object' || part === null) return part
  const { documentedAs = {}, ...rest } = part as { documentedAs?: object }
  const entries = Object.entries({ ...rest, ...documentedAs })
  return Object.fromEntries(entries.map(([name, value]) => [name, withDocumentedRules(value)]))
}

function complete(plainDefinition: Definition): Definition {
  const definition = withDocumentedRules(plainDefinition) as Definition
  const components = { ...definition.components }
  components.schemas = { ...components.schemas, Problem: problemSchema }
  const responses: Record<string, object> = {}
  for (const [path, operations] of Object.entries(definition.paths)) {
    const hasPage = !path.startsWith('/v1/')
    for (const [method, operation] of Object.entries(operations)) {
      const { 'x-problems': declared = [], 'x-documented': documented = {} } = operation
      delete operation['x-problems']
      delete operation['x-documented']
      for (const parameter of operation.parameters ?? []) {
        const form = parameter.in === 'path' ? PATH_PARAMETERS[parameter.name] : undefined
        if (form) parameter.schema = form
        const description = parameter.description ?? PARAMETER_DESCRIPTIONS[parameter.name]
        if (description) parameter.description = description
      }
      if (documented.requestBody) operation.requestBody = documented.requestBody
      if (documented.isBodyOptional) operation.requestBody = { ...operation.requestBody, required: false }
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) describeProperties(schema)
      Object.assign(operation.responses, documented.responses)
      for (const [status, response] of Object.entries(operation.responses)) {
        if (status === '204' || status === '304') delete (response as { content?: object }).content
      }
      for (const [status, codes] of byStatus(problemsOf(method, path, operation, declared))) {
        const name = [...codes, ...(hasPage && method === 'get' ? ['page'] : [])].join('.')
        responses[name] ??= problemResponse(status, codes, hasPage && method === 'get')
        operation.responses[status] = { $ref: `#/components/responses/${name}` }
      }
    }
  }
  return { ...definition, components: { ...components, responses } }
}
