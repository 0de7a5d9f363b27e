import { hash } from 'node:crypto'
import { BoundedCache } from '@wayleave/geodata/base'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag } from '../../http/headers.ts'

/**
 * Max cached definitions. If no setting fixes the base URL, clients choose it, so the cache must be bounded.
 */
const MAX_ADDRESSES = 16

interface Definition {
  bytes: Buffer
  etag: string
}

/** The API definition. It is serialized once, because that takes as long as twenty other responses. */
export function definitionRoutes(
  app: App,
  { authenticate, baseUrl }: { authenticate: Authenticate; baseUrl: BaseUrl },
): void {
  let written: Buffer | undefined
  const byAddress = new BoundedCache<string, Definition>(MAX_ADDRESSES)

  const definitionAt = async (url: string): Promise<Definition> => {
    const cachedDefinition = byAddress.get(url)
    if (cachedDefinition) return cachedDefinition
    written ??= Buffer.from(JSON.stringify(await app.apiDefinition()).slice(0, -1))
    const servers = `,"servers":${JSON.stringify([{ url }])}}`
    const bytes = Buffer.concat([written, Buffer.from(servers)])
    const definition = { bytes, etag: `"${hash('sha256', bytes).slice(0, 32)}"` }
    byAddress.set(url, definition)
    return definition
  }

  app.get('/v1/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    await authenticate.anonymous(request, reply)
    const { bytes, etag } = await definitionAt(baseUrl.of(request))
    reply.header('etag', etag).header('cache-control', 'no-cache')
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.header('content-type', 'application/json; charset=utf-8').send(bytes)
  })
}
