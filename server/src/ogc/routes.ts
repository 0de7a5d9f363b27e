import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../http/frame.ts'
import { type Grant, mayUse, requireAddOn } from '../keys/grant.ts'
import { Problem } from '../problem.ts'
import { allCollections, oneCollection } from './collection.ts'
import { CONFORMANCE } from './conformance.ts'
import { DOCUMENT_ENCODINGS, type Encoding, negotiate } from './encodings.ts'
import { admit, type ItemsRouteParts, itemsRoutes } from './items-routes.ts'
import { conformanceDeclaration, landingPage } from './landing.ts'
import { ROOT } from './links.ts'
import { parameterOf, type QueryPair, readQuery, refuseUnknown } from './query-string.ts'
import { sendDocument } from './respond.ts'

export type OgcParts = ItemsRouteParts

/** OGC API - Features. */
export function ogcRoutes(app: App, parts: OgcParts): void {
  const { authenticate, baseUrl, catalog, crsList, meter } = parts
  const known = parts.keyInUrl ? ['f', 'api_key'] : ['f']

  /** A document in one of its encodings; it has no parameter but `f`. */
  const wished = (request: FastifyRequest, encodings: readonly Encoding[]) => {
    const pairs = readQuery(request.url)
    refuseUnknown(pairs, known)
    return { pairs, encoding: negotiate(encodings, parameterOf(pairs, 'f'), request.headers.accept) }
  }
  const send = (request: FastifyRequest, reply: FastifyReply, encoding: Encoding, document: object) =>
    sendDocument(request, reply, encoding, JSON.stringify(document))

  const publicDocument = (
    path: string,
    make: (base: string, pairs: readonly QueryPair[], encoding: Encoding) => object,
  ) =>
    app.get(ROOT + path, async (request, reply) => {
      await authenticate.optionalKey(request, reply)
      const { pairs, encoding } = wished(request, DOCUMENT_ENCODINGS)
      return send(request, reply, encoding, make(baseUrl.of(request), pairs, encoding))
    })

  publicDocument('', landingPage)
  publicDocument('/conformance', (base, pairs, encoding) =>
    conformanceDeclaration(base, pairs, encoding, CONFORMANCE),
  )

  app.get(`${ROOT}/collections`, async (request, reply) => {
    const grant = await authenticate.key(request, reply)
    requireAddOn(grant, 'GIS_ACCESS')
    requireAnyRead(grant)
    const { pairs, encoding } = wished(request, DOCUMENT_ENCODINGS)
    meter.record(grant, { operation: 'collections', table: '', format: encoding.name })
    const datasets = (await catalog.all()).filter(({ table }) => mayUse(grant, 'read', table))
    return send(
      request,
      reply,
      encoding,
      allCollections(datasets, baseUrl.of(request), crsList, pairs, encoding),
    )
  })

  app.get(`${ROOT}/collections/:table`, async (request, reply) => {
    const { grant, dataset } = await admit(request, reply, parts)
    const { pairs, encoding } = wished(request, DOCUMENT_ENCODINGS)
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    return send(
      request,
      reply,
      encoding,
      oneCollection(dataset, baseUrl.of(request), crsList, pairs, encoding),
    )
  })

  itemsRoutes(app, parts)
}

/** The list shows what the key may read; a key that reads nothing at all is told so. */
function requireAnyRead({ permissions }: Grant): void {
  for (const permission of permissions) if (permission.startsWith('read')) return
  throw new Problem('permission-missing', 'The API key lacks the permission "read".')
}
