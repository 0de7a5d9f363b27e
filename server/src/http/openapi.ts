import type { SwaggerOptions } from '@fastify/swagger'
import { version } from '../version.ts'
import { type About, aboutInfo } from './about.ts'

export const tags = {
  data: 'Data',
  catalog: 'Catalog',
  keys: 'API keys',
  signIn: 'Sign-in',
  organizations: 'Organizations',
  publishing: 'Publishing',
  administration: 'Administration',
  operation: 'Operation',
} as const

type Document = NonNullable<Extract<SwaggerOptions, { openapi?: unknown }>['openapi']>

/** The top-level fields of the API definition at /v1/openapi.json; the paths come from route schemas. */
export function openApiDocument(about: About): Document {
  return {
    openapi: '3.0.3',
    info: {
      title: about.title,
      version,
      description:
        'Datasets to download and to query, and the API keys that unlock them. Data is read with an API key in the header `X-API-Key`; keys and organizations are managed with the Bearer token of a signed-in user.',
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
export const security = { key: [{ key: [] }], token: [{ token: [] }] }
