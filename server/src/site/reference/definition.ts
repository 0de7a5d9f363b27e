/** The parts of an OpenAPI 3.0 definition that the reference shows. */
export interface Schema {
  $ref?: string
  type?: string
  format?: string
  description?: string
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  examples?: readonly unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  nullable?: boolean
  required?: readonly string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  oneOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  allOf?: readonly Schema[]
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  required?: boolean
  schema: Schema
}

export interface Body {
  description?: string
  required?: boolean
  content?: Record<string, { schema?: Schema }>
}

export interface Definition {
  paths: Record<string, Record<string, DefinedOperation>>
  components: {
    parameters?: Record<string, Parameter>
    responses?: Record<string, Body>
    schemas?: Record<string, Schema>
  }
}

interface DefinedOperation {
  summary?: string
  description?: string
  tags?: readonly string[]
  security?: readonly Record<string, unknown>[]
  parameters?: readonly (Parameter | { $ref: string })[]
  requestBody?: Body
  responses: Record<string, Body | { $ref: string }>
}

/** How a request proves who sends it; `either` is a token or a key of the platform. */
type Access = 'none' | 'optional-key' | 'key' | 'token' | 'either'

/** An operation with its references to parameters and responses resolved. */
export interface Operation {
  id: string
  method: string
  path: string
  group: string
  summary: string
  description: string
  access: Access
  parameters: readonly Parameter[]
  body: Body | null
  responses: readonly (Body & { status: number })[]
  schemaOf: (schema: Schema) => Schema
}

/** The operations of a definition. `root` is put before its paths, and `groupOf` chooses the page of each. */
export function operationsOf(
  definition: Definition,
  root: string,
  groupOf: (tag: string, path: string) => string,
): Operation[] {
  const { components } = definition
  const target = <T extends object>(kind: keyof Definition['components'], entry: T | { $ref: string }): T =>
    '$ref' in entry && typeof entry.$ref === 'string'
      ? ((components[kind] as Record<string, unknown>)[entry.$ref.split('/').at(-1)!] as T)
      : (entry as T)
  const schemaOf = (schema: Schema): Schema => target('schemas', schema)
  return Object.entries(definition.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const path = root + (root !== '' && template === '/' ? '' : template)
      const parameters = (operation.parameters ?? []).map((entry) => target<Parameter>('parameters', entry))
      return {
        id: `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '-')}`.replace(/-$/, ''),
        method: method.toUpperCase(),
        path,
        group: groupOf(operation.tags?.[0] ?? '', path),
        summary: operation.summary ?? path,
        description: operation.description ?? '',
        access: accessOf(operation.security ?? [], parameters),
        parameters,
        body: operation.requestBody
          ? describedBody(operation.requestBody, template, definition, schemaOf)
          : null,
        responses: Object.entries(operation.responses).map(([status, entry]) => ({
          status: Number(status),
          ...target<Body>('responses', entry),
        })),
        schemaOf,
      }
    }),
  )
}

/**
 * A body whose members are the parameters of the GET request at the same path, or of other requests, has their
 * descriptions.
 */
function describedBody(
  body: Body,
  template: string,
  { paths, components }: Definition,
  schemaOf: Operation['schemaOf'],
): Body {
  const json = body.content?.['application/json']?.schema
  if (!json) return body
  const own = (paths[template]?.['get']?.parameters ?? []).filter((one) => 'name' in one)
  const byName = new Map(
    [...Object.values(components.parameters ?? {}), ...own].map((one) => [one.name, one.description]),
  )
  const schema = schemaOf(json)
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const description = property.description ?? byName.get(name)
    return [name, description ? { ...property, description } : property]
  })
  const described = { ...schema, properties: Object.fromEntries(properties) }
  return { ...body, content: { ...body.content, 'application/json': { schema: described } } }
}

function accessOf(security: readonly Record<string, unknown>[], parameters: readonly Parameter[]): Access {
  const accepts = (scheme: string) => security.some((alternative) => scheme in alternative)
  if (accepts('token')) return accepts('key') ? 'either' : 'token'
  if (accepts('key')) return 'key'
  return parameters.some(({ name }) => name === 'api_key') ? 'optional-key' : 'none'
}
