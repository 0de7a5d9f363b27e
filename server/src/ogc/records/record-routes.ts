import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../base/problem.ts'
import type { ListedDataset } from '../../data/catalog/dataset.ts'
import type { App } from '../../http/fastify-app.ts'
import type { ItemsDeps } from '../items/items-page.ts'
import {
  API_ENCODINGS,
  CATALOG_ENCODINGS,
  DOCUMENT_ENCODINGS,
  type Encoding,
  geojson,
  html,
  negotiate,
  RECORD_ENCODINGS,
} from '../request/encodings.ts'
import { parameterOf, readQuery, refuseUnknown } from '../request/query-string.ts'
import { type Link, linkQuery, selfAndAlternates } from '../write/links.ts'
import { sendDocument } from '../write/respond.ts'
import {
  CATALOG_ID,
  catalog,
  catalogs,
  RECORDS_ROOT,
  type RecordsPlace,
  recordDocument,
  recordOf,
  recordsConformance,
  recordsLanding,
} from './record-documents.ts'
import * as pages from './record-html.ts'
import { cursorAfter, readRecordQuery } from './record-query.ts'
import { recordsApi } from './records-api.ts'

/** OGC API - Records: the catalogue as records, public and with a root of its own. */
export function recordRoutes(app: App, deps: ItemsDeps): void {
  const { authenticate, baseUrl, catalog: datasets, about, crsList, clock } = deps
  const hidden = { schema: { hide: true } }

  /** Registers a document whose only parameter is `f`. */
  const documentRoute = <T extends object>(
    path: string,
    encodings: readonly Encoding[],
    make: (place: RecordsPlace, all: readonly ListedDataset[]) => T,
    asHtml: (place: RecordsPlace, document: T) => string,
  ) =>
    app.get(RECORDS_ROOT + path, hidden, async (request, reply) => {
      const { place, all } = await placeOf(request, reply, encodings)
      refuseUnknown(place.pairs, ['f'])
      const document = make(place, all)
      return send(request, reply, place, document, asHtml)
    })

  const placeOf = async (
    request: FastifyRequest,
    reply: FastifyReply,
    encodings: readonly Encoding[],
  ): Promise<{ place: RecordsPlace; all: ListedDataset[] }> => {
    const grant = await authenticate.optionalKey(request, reply)
    const pairs = readQuery(request.url)
    const encoding = negotiate(encodings, parameterOf(pairs, 'f'), request.headers.accept)
    const place = { base: baseUrl.of(request), about, pairs, encoding }
    return { place, all: await datasets.allFor(grant) }
  }

  documentRoute('', DOCUMENT_ENCODINGS, recordsLanding, pages.landingHtml)
  documentRoute('/conformance', DOCUMENT_ENCODINGS, recordsConformance, pages.conformanceHtml)
  documentRoute('/api', API_ENCODINGS, recordsApi, (place, api) => {
    const url = `${place.base}${RECORDS_ROOT}/api`
    return pages.apiHtml(place, api, selfAndAlternates(url, place.pairs, API_ENCODINGS, place.encoding))
  })
  documentRoute('/collections', DOCUMENT_ENCODINGS, catalogs, pages.catalogsHtml)
  documentRoute(`/collections/${CATALOG_ID}`, CATALOG_ENCODINGS, catalog, pages.catalogHtml)

  app.get(`${RECORDS_ROOT}/collections/${CATALOG_ID}/items`, hidden, async (request, reply) => {
    const { place, all: known } = await placeOf(request, reply, RECORD_ENCODINGS)
    const query = readRecordQuery(place.pairs, crsList)
    const all = known.filter((dataset) => query.matches(dataset, place.base))
    const rest = all.filter(({ table }) => table > query.after)
    const page = rest.slice(0, query.limit)
    const url = `${place.base}${RECORDS_ROOT}/collections/${CATALOG_ID}/items`
    const links: Link[] = [
      ...selfAndAlternates(url, place.pairs, RECORD_ENCODINGS, place.encoding),
      { href: 'http://www.opengis.net/def/profile/OGC/0/ogc-record', rel: 'profile' },
    ]
    if (rest.length > page.length) {
      const href = url + linkQuery(place.pairs, ['cursor'], `cursor=${cursorAfter(page.at(-1)!)}`)
      links.push({ href, rel: 'next', type: place.encoding.mediaType })
    }
    const document = {
      type: 'FeatureCollection',
      features: page.map((dataset) => recordOf(place, dataset)),
      links,
      numberMatched: all.length,
      numberReturned: page.length,
      timeStamp: clock().toISOString(),
    }
    const q = parameterOf(place.pairs, 'q') ?? ''
    return send(request, reply, place, document, () => pages.recordsHtml(place, document, q))
  })

  app.get<{ Params: { id: string } }>(
    `${RECORDS_ROOT}/collections/${CATALOG_ID}/items/:id`,
    hidden,
    async (request, reply) => {
      const { place, all } = await placeOf(request, reply, RECORD_ENCODINGS)
      refuseUnknown(place.pairs, ['f'])
      const { id } = request.params
      const dataset = all.find(({ table }) => table === id)
      if (!dataset) throw notFound(`record "${id.slice(0, 80)}"`)
      return send(request, reply, place, recordDocument(place, dataset), (_, document) =>
        pages.recordHtml(place, document, dataset.license),
      )
    },
  )
}

function send<T extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  place: RecordsPlace,
  document: T,
  asHtml: (place: RecordsPlace, document: T) => string,
): FastifyReply {
  const text = place.encoding === html ? asHtml(place, document) : JSON.stringify(document)
  if (place.encoding === geojson)
    reply.header('content-crs', '<http://www.opengis.net/def/crs/OGC/1.3/CRS84>')
  return sendDocument(request, reply, place.encoding, text)
}
