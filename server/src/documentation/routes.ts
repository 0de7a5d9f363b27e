import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { App } from '../http/fastify-app.ts'
import { PAGE_HEADERS } from '../http/pages/html.ts'
import { notFound } from '../problem.ts'
import { Documentation } from './documentation.ts'

const ASSETS = new URL('./assets/', import.meta.url)
const MEDIA_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * The documentation, one page per problem type, and the API reference. All are public and not part of the
 * API.
 */
export function documentationRoutes(app: App): void {
  const documentation = new Documentation()
  const hidden = { schema: { hide: true } }

  app.get('/docs', hidden, (_request, reply) => reply.headers(PAGE_HEADERS).send(documentation.page('index')))

  app.get('/docs/api', hidden, (_request, reply) =>
    reply.headers(PAGE_HEADERS).send(documentation.apiReference()),
  )

  app.get<{ Params: { page: string } }>('/docs/:page', hidden, (request, reply) => {
    const page = documentation.page(request.params.page)
    if (!page) throw notFound('such page')
    return reply.headers(PAGE_HEADERS).send(page)
  })

  app.get<{ Params: { code: string } }>('/problems/:code', hidden, (request, reply) => {
    const page = documentation.problem(request.params.code)
    if (!page) throw notFound('such problem')
    return reply.headers(PAGE_HEADERS).send(page)
  })

  app.get<{ Params: { name: string } }>('/docs/assets/:name', hidden, async (request, reply) => {
    const { name } = request.params
    const mediaType = /^[a-z-]+\.[a-z]+$/.test(name) ? MEDIA_TYPES[extname(name)] : undefined
    const bytes = mediaType && (await readFile(new URL(name, ASSETS)).catch(() => undefined))
    if (!bytes) throw notFound('such file')
    return reply.header('content-type', mediaType).header('cache-control', 'public, max-age=3600').send(bytes)
  })
}
