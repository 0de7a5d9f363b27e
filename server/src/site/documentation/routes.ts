import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { notFound } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag } from '../../http/headers.ts'
import { PAGE_HEADERS } from '../../http/pages/html.ts'
import { sendPageFile } from '../../http/pages/send-page-file.ts'
import { DocumentationPages } from './documentation-pages.ts'
import { packageAsset } from './package-assets.ts'

const ASSETS = new URL('./assets/', import.meta.url)
const PICTURES = new URL('../../../../docs/pictures/', import.meta.url)
const MEDIA_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

interface DocumentationDeps {
  about: About
  baseUrl: BaseUrl
}

/**
 * The documentation and one page per problem type. All are public and not part of the API.
 */
export function documentationRoutes(app: App, { about, baseUrl }: DocumentationDeps): void {
  const pages = new DocumentationPages(about)
  const hidden = { schema: { hide: true } }

  app.get('/docs', hidden, async (request, reply) =>
    reply.headers(PAGE_HEADERS).send(await pages.page('index', baseUrl.of(request))),
  )

  app.get('/docs/search.json', hidden, async (request, reply) => {
    const { bytes, etag } = await pages.searchIndex()
    reply.header('etag', etag).header('cache-control', 'public, max-age=3600')
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.header('content-type', 'application/json; charset=utf-8').send(bytes)
  })

  app.get<{ Params: { page: string } }>('/docs/:page', hidden, async (request, reply) => {
    const page = await pages.page(request.params.page, baseUrl.of(request))
    if (!page) throw notFound('such page')
    return reply.headers(PAGE_HEADERS).send(page)
  })

  app.get<{ Params: { name: string } }>('/docs/pictures/:name', hidden, async (request, reply) => {
    const { name } = request.params
    const bytes =
      /^[a-z-]+\.png$/.test(name) && (await readFile(new URL(name, PICTURES)).catch(() => undefined))
    if (!bytes) throw notFound('such picture')
    return sendPageFile(request, reply, { mediaType: 'image/png', bytes })
  })

  app.get<{ Params: { code: string } }>('/problems/:code', hidden, async (request, reply) => {
    const page = await pages.problem(request.params.code)
    if (!page) throw notFound('such problem')
    return reply.headers(PAGE_HEADERS).send(page)
  })

  app.get<{ Params: { name: string } }>('/docs/assets/:name', hidden, async (request, reply) => {
    const { name } = request.params
    const mediaType = /^[a-z-]+\.[a-z0-9]+$/.test(name) ? MEDIA_TYPES[extname(name)] : undefined
    const file = packageAsset(name) ?? new URL(name, ASSETS)
    const bytes = mediaType && (await readFile(file).catch(() => undefined))
    if (!mediaType || !bytes) throw notFound('such file')
    return sendPageFile(request, reply, { mediaType, bytes })
  })
}
