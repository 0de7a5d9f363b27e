import { notFound } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { escapeHtml, PAGE_HEADERS } from '../../http/pages/html.ts'
import { RenderedTexts } from '../documentation/rendered-texts.ts'
import { GROUPS } from './groups.ts'
import type { ReferenceRequest } from './reference-thread.ts'

interface ReferenceDeps {
  about: About
  baseUrl: BaseUrl
  ogcRoot: string
  /** The definition of the OGC API, without paths of single datasets. */
  ogcDefinition: () => unknown
}

/** The pages of the API reference, which are public. */
export function referenceRoutes(app: App, { about, baseUrl, ogcRoot, ogcDefinition }: ReferenceDeps): void {
  const rendered = new RenderedTexts<ReferenceRequest>(new URL('./reference-thread.ts', import.meta.url))
  const pageOf = async (group: string, base: string) => {
    const page = await rendered.render(group, async () => {
      const own = JSON.stringify(await app.apiDefinition())
      return { about, own, ogc: JSON.stringify(ogcDefinition()), ogcRoot, group }
    })
    return page.withAddress(escapeHtml(base))
  }
  const hidden = { schema: { hide: true } }

  app.get('/docs/api', hidden, async (request, reply) =>
    reply.headers(PAGE_HEADERS).send(await pageOf('', baseUrl.of(request))),
  )

  app.get<{ Params: { group: string } }>('/docs/api/:group', hidden, async (request, reply) => {
    const { group } = request.params
    const page = GROUPS.some(({ name }) => name === group) && (await pageOf(group, baseUrl.of(request)))
    if (!page) throw notFound('such page')
    return reply.headers(PAGE_HEADERS).send(page)
  })
}
