import { notFound } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { PAGE_HEADERS } from '../../http/pages/html.ts'
import type { Definition } from './definition.ts'
import type { Reference } from './reference.ts'

interface ReferenceDeps {
  about: About
  baseUrl: BaseUrl
  ogcRoot: string
  /** The definition of the OGC API, without paths of single datasets. */
  ogcDefinition: () => unknown
}

/** The pages of the API reference, which are public. */
export function referenceRoutes(app: App, { about, baseUrl, ogcRoot, ogcDefinition }: ReferenceDeps): void {
  let loaded: Promise<Reference> | undefined
  /** Made for the first page: all routes are known by then, and a start does not wait for the highlighter. */
  const load = () => {
    loaded ??= import('./reference.ts').then(({ Reference }) => {
      const own = app.swagger() as unknown as Definition
      return new Reference(about, { own, ogc: ogcDefinition() as Definition, ogcRoot })
    })
    return loaded
  }
  const hidden = { schema: { hide: true } }

  app.get('/docs/api', hidden, async (request, reply) =>
    reply.headers(PAGE_HEADERS).send(await (await load()).page('', baseUrl.of(request))),
  )

  app.get<{ Params: { group: string } }>('/docs/api/:group', hidden, async (request, reply) => {
    const page = await (await load()).page(request.params.group, baseUrl.of(request))
    if (!page) throw notFound('such page')
    return reply.headers(PAGE_HEADERS).send(page)
  })
}
