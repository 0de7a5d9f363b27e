import { readFileSync } from 'node:fs'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot/manifest.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../access/authenticate.ts'
import { type Grant, mayUse, requireAddOn } from '../access/grant.ts'
import type { About } from '../http/about.ts'
import type { App } from '../http/fastify-app.ts'
import { Problem } from '../problem.ts'
import { version } from '../version.ts'
import { apiDefinition } from './documents/api-definition.ts'
import { allCollections, oneCollection } from './documents/collection.ts'
import { CONFORMANCE } from './documents/conformance.ts'
import { featureSchema } from './documents/feature-schema.ts'
import { conformanceDeclaration, landingPage } from './documents/landing.ts'
import { collectionSchema, type SchemaKind } from './documents/schemas.ts'
import {
  apiHtml,
  collectionHtml,
  collectionsHtml,
  conformanceHtml,
  landingHtml,
  schemaHtml,
} from './html/documents.ts'
import { admit, tableOf } from './items/admit.ts'
import { itemRoutes } from './items/item-routes.ts'
import type { ItemsDeps } from './items/items-page.ts'
import { searchRoutes } from './items/search-routes.ts'
import {
  API_ENCODINGS,
  DOCUMENT_ENCODINGS,
  type Encoding,
  FEATURE_SCHEMA_ENCODINGS,
  html,
  negotiate,
  SCHEMA_ENCODINGS,
} from './request/encodings.ts'
import { parameterOf, type QueryPair, readQuery, refuseUnknown } from './request/query-string.ts'
import { integerSizesOf } from './write/integer-sizes-of.ts'
import { ROOT, selfAndAlternates } from './write/links.ts'
import { sendDocument } from './write/respond.ts'

export interface OgcParts extends ItemsDeps {
  about: About
}

/** The routes of OGC API - Features. */
export function ogcRoutes(app: App, parts: OgcParts): void {
  const { authenticate, baseUrl, catalog, crsList, meter } = parts
  const known = parts.keyInUrl ? ['f', 'api_key'] : ['f']

  /** The requested encoding of a document, whose only parameter is `f`. */
  const wishOf = (request: FastifyRequest, encodings: readonly Encoding[]): Wish => {
    const pairs = readQuery(request.url)
    refuseUnknown(pairs, known)
    const encoding = negotiate(encodings, parameterOf(pairs, 'f'), request.headers.accept)
    return { base: baseUrl.of(request), pairs, encoding }
  }

  app.get(ROOT, async (request, reply) => {
    await authenticate.optionalKey(request, reply)
    const { base, pairs, encoding } = wishOf(request, DOCUMENT_ENCODINGS)
    const document = landingPage(base, pairs, encoding, parts.about)
    return send(request, reply, encoding, document, () => landingHtml(base, document))
  })

  app.get(`${ROOT}/conformance`, async (request, reply) => {
    await authenticate.optionalKey(request, reply)
    const { base, pairs, encoding } = wishOf(request, DOCUMENT_ENCODINGS)
    const document = conformanceDeclaration(base, pairs, encoding, CONFORMANCE)
    return send(request, reply, encoding, document, () => conformanceHtml(base, document))
  })

  app.get(`${ROOT}/api`, async (request, reply) => {
    await authenticate.optionalKey(request, reply)
    const { base, pairs, encoding } = wishOf(request, API_ENCODINGS)
    const { about, keyInUrl } = parts
    const datasets = await catalog.all()
    const document = apiDefinition(base, { datasets, crsList, version, about, keyInUrl })
    const links = selfAndAlternates(`${base}${ROOT}/api`, pairs, API_ENCODINGS, encoding)
    return send(request, reply, encoding, document, () => apiHtml(base, document, links))
  })

  const style = readFileSync(new URL('./html/style.css', import.meta.url))
  app.get(`${ROOT}/style.css`, async (request, reply) => {
    await authenticate.optionalKey(request, reply)
    refuseUnknown(readQuery(request.url), known)
    return reply.header('cache-control', 'public, max-age=3600').type('text/css; charset=utf-8').send(style)
  })

  app.get(`${ROOT}/collections`, async (request, reply) => {
    const grant = await authenticate.key(request, reply)
    requireAddOn(grant, 'GIS_ACCESS')
    requireAnyRead(grant)
    const { base, pairs, encoding } = wishOf(request, DOCUMENT_ENCODINGS)
    meter.record(grant, { operation: 'collections', table: '', format: encoding.name })
    const datasets = (await catalog.all()).filter(({ table }) => mayUse(grant, 'read', table))
    const document = allCollections(datasets, base, crsList, pairs, encoding)
    return send(request, reply, encoding, document, () => collectionsHtml(base, document))
  })

  app.get(`${ROOT}/collections/:table`, async (request, reply) => {
    const { grant, dataset } = await admit(askerOf(request, reply), tableOf(request), parts)
    const { base, pairs, encoding } = wishOf(request, DOCUMENT_ENCODINGS)
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    const document = oneCollection(dataset, base, crsList, pairs, encoding)
    return send(request, reply, encoding, document, () => collectionHtml(base, dataset, document))
  })

  for (const kind of ['schema', 'queryables', 'sortables'] satisfies SchemaKind[]) {
    app.get(`${ROOT}/collections/:table/${kind}`, async (request, reply) => {
      const { grant, dataset } = await admit(askerOf(request, reply), tableOf(request), parts)
      const { base, pairs, encoding } = wishOf(request, SCHEMA_ENCODINGS)
      meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
      const schema = collectionSchema(kind, dataset, base)
      const url = `${base}${ROOT}/collections/${dataset.table}/${kind}`
      const links = selfAndAlternates(url, pairs, SCHEMA_ENCODINGS, encoding)
      return send(request, reply, encoding, schema, () => schemaHtml(base, dataset, kind, schema, links))
    })
  }

  app.get(`${ROOT}/collections/:table/feature-schema`, async (request, reply) => {
    const { grant, dataset } = await admit(askerOf(request, reply), tableOf(request), parts)
    const { base, encoding } = wishOf(request, FEATURE_SCHEMA_ENCODINGS)
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    const sizes = await parts.snapshots.use(dataset, async ({ folder, manifest }) => {
      await parts.verification.requireFile(folder, manifest, SNAPSHOT_FILES.rows)
      return (await integerSizesOf(folder, manifest)).slice(-manifest.columns.length)
    })
    return sendDocument(request, reply, encoding, JSON.stringify(featureSchema(dataset, base, sizes)))
  })

  itemRoutes(app, parts)
  searchRoutes(app, parts)
}

interface Wish {
  base: string
  pairs: readonly QueryPair[]
  encoding: Encoding
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  encoding: Encoding,
  document: object,
  asHtml: () => string,
): FastifyReply {
  const text = encoding === html ? asHtml() : JSON.stringify(document)
  return sendDocument(request, reply, encoding, text)
}

/** The list contains the collections that the key may read. A key without any read permission is an error. */
function requireAnyRead({ permissions }: Grant): void {
  for (const permission of permissions) if (permission.startsWith('read')) return
  throw new Problem('permission-missing', 'The API key lacks the permission "read".')
}
