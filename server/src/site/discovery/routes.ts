import { hash } from 'node:crypto'
import type { DatasetRecord } from '@wayleave/contract/records'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { notFound } from '../../base/problem.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { ListedDataset } from '../../data/catalog/dataset.ts'
import { datasetMetadata } from '../../data/catalog/metadata.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag } from '../../http/headers.ts'
import type { Html } from '../../http/pages/html.ts'
import { DCAT_PREFIXES, dcatGraph } from './dcat.ts'
import { jsonLd, turtle } from './graph.ts'
import { llms } from './llms.ts'
import { pageHead } from './page-head.ts'
import { robots, sitemap, sitemapCount, sitemapIndex } from './sitemap.ts'

interface DiscoveryDeps {
  catalog: Catalog
  baseUrl: BaseUrl
  about: About
}

interface Document {
  bytes: string
  etag: string
}

const XML = 'application/xml; charset=utf-8'

/** The catalogue for machines: DCAT, sitemaps, llms.txt and robots.txt. It has what everybody may know. */
export function discoveryRoutes(
  app: App,
  { catalog, baseUrl, about, authenticate }: DiscoveryDeps & { authenticate: Authenticate },
): void {
  // Anonymous and not always from memory: limited by network address, like the list of datasets.
  const onRequest = (request: FastifyRequest, reply: FastifyReply) => authenticate.anonymous(request, reply)
  const hidden = { onRequest, schema: { hide: true } }
  /** Documents of a state of the catalog, by path and base URL; they are dropped with that state. */
  const documents = new WeakMap<readonly ListedDataset[], Map<string, Document>>()

  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    mediaType: string,
    write: (datasets: DatasetRecord[], base: string) => string,
  ) => {
    const datasets = await catalog.allFor(null)
    const base = baseUrl.of(request)
    let ofState = documents.get(datasets)
    if (!ofState) {
      ofState = new Map()
      documents.set(datasets, ofState)
    }
    const name = `${base} ${request.routeOptions.url} ${JSON.stringify(request.params)}`
    let document = ofState.get(name)
    if (!document) {
      const bytes = write(
        datasets.map((dataset) => datasetMetadata(dataset, base, null)),
        base,
      )
      document = { bytes, etag: `"${hash('sha256', bytes).slice(0, 32)}"` }
      // Behind a proxy the base URL follows the request; a few are enough.
      if (ofState.size >= 32) ofState.clear()
      ofState.set(name, document)
    }
    const { bytes, etag } = document
    reply.header('etag', etag).header('cache-control', 'public, no-cache')
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
    return reply.type(mediaType).send(bytes)
  }

  app.get('/catalog.jsonld', hidden, (request, reply) =>
    send(request, reply, 'application/ld+json', (datasets, base) =>
      JSON.stringify(jsonLd(DCAT_PREFIXES, dcatGraph(datasets, about, base))),
    ),
  )

  app.get('/catalog.ttl', hidden, (request, reply) =>
    send(request, reply, 'text/turtle; charset=utf-8', (datasets, base) =>
      turtle(DCAT_PREFIXES, dcatGraph(datasets, about, base)),
    ),
  )

  app.get('/sitemap.xml', hidden, (request, reply) =>
    send(request, reply, XML, (datasets, base) => {
      const count = sitemapCount(datasets)
      return count === 1 ? sitemap(datasets, base, 1) : sitemapIndex(count, base)
    }),
  )

  app.get(
    '/sitemaps/:file',
    { onRequest, schema: { hide: true, params: Type.Object({ file: Type.String() }) } },
    async (request, reply) => {
      const number = Number(/^([1-9]\d{0,3})\.xml$/.exec(request.params.file)?.[1])
      if (!(number <= sitemapCount(await catalog.allFor(null)))) throw notFound('such sitemap')
      return send(request, reply, XML, (datasets, base) => sitemap(datasets, base, number))
    },
  )

  app.get('/llms.txt', hidden, (request, reply) =>
    send(request, reply, 'text/plain; charset=utf-8', (datasets, base) => llms(datasets, about, base)),
  )

  app.get('/robots.txt', hidden, async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(robots(baseUrl.of(request))),
  )
}

/** Returns what the heads of console pages say; the page of an unknown dataset has the head of the service. */
export function pageHeads({ catalog, baseUrl, about }: DiscoveryDeps) {
  return async (request: FastifyRequest, table: string | undefined): Promise<Html> => {
    const base = baseUrl.of(request)
    // The list is in memory, so invented names cost no query.
    const dataset = (await catalog.allFor(null)).find((one) => one.table === table)
    return pageHead(dataset === undefined ? null : datasetMetadata(dataset, base, null), about, base)
  }
}
