import { type Grant, mayUse, requireAddOn } from '../../accounts/access/grant.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { Problem } from '../../base/problem.ts'
import { version } from '../../base/version.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { type DataResponse, type DataRoute, matchPattern } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
import { admit } from '../items/admit.ts'
import type { ItemsDeps } from '../items/items-page.ts'
import {
  API_ENCODINGS,
  DOCUMENT_ENCODINGS,
  type Encoding,
  html,
  negotiate,
  SCHEMA_ENCODINGS,
} from '../request/encodings.ts'
import { parameterOf, type QueryPair, readQuery, refuseUnknown } from '../request/query-string.ts'
import { linkQuery, ROOT, selfAndAlternates } from '../write/links.ts'
import { apiDefinition } from './api-definition.ts'
import { allCollections, oneCollection } from './collection.ts'
import { CONFORMANCE } from './conformance.ts'
import {
  apiHtml,
  collectionHtml,
  collectionsHtml,
  conformanceHtml,
  landingHtml,
  schemaHtml,
} from './document-html.ts'
import { FinishedDocuments } from './finished-documents.ts'
import { conformanceDeclaration, landingPage } from './landing.ts'
import { collectionSchema, type SchemaKind } from './schemas.ts'

/** The requested encoding of a document, whose only parameter is `f`. */
interface Wish {
  base: string
  pairs: readonly QueryPair[]
  encoding: Encoding
}

/** A document, and its page. */
interface Made {
  document: object
  asHtml: () => string
}

/** The routes of the documents: landing page, conformance, API definition, collections and their schemas. */
export function documentRoutes(deps: ItemsDeps): DataRoute[] {
  const responses = new DocumentResponses(deps)
  return [...collectionRoutes(deps, responses), listRoute(deps, responses), ...serviceRoutes(deps, responses)]
}

class DocumentResponses {
  readonly #deps: ItemsDeps
  readonly #documents = new FinishedDocuments()

  constructor(deps: ItemsDeps) {
    this.#deps = deps
  }

  wishOf(exchange: Exchange, encodings: readonly Encoding[]): Wish {
    const pairs = readQuery(exchange.url)
    refuseUnknown(pairs, ['f'])
    const encoding = negotiate(encodings, parameterOf(pairs, 'f'), exchange.request.headers.accept)
    return { base: this.#deps.baseUrl.of(exchange.caller), pairs, encoding }
  }

  /** The document is made once for its owner, which is replaced if what the document says changes. */
  send(
    exchange: Exchange,
    owner: object,
    name: string,
    { base, pairs, encoding }: Wish,
    make: () => Made,
  ): DataResponse {
    const variant = `${name}\n${base}\n${encoding.name}\n${linkQuery(pairs, [])}`
    return this.#documents.respond(exchange, owner, variant, encoding, () => {
      const { document, asHtml } = make()
      return encoding === html ? asHtml() : JSON.stringify(document)
    })
  }

  /** A document about one collection. */
  ofCollection(
    exchange: Exchange,
    table: string,
    encodings: readonly Encoding[],
    name: string,
    make: (dataset: Dataset, wish: Wish) => Made,
  ): MaybePromise<DataResponse> {
    return andThen(admit(exchange, table, this.#deps), ({ grant, dataset }) => {
      const wish = this.wishOf(exchange, encodings)
      const call = { operation: 'collections', table: dataset.table, format: wish.encoding.name }
      this.#deps.meter.record(grant, call)
      return this.send(exchange, dataset, name, wish, () => make(dataset, wish))
    })
  }
}

function route(pattern: string, respond: DataRoute['respond']): DataRoute {
  return { pattern, match: matchPattern(pattern), respond }
}

function serviceRoutes(deps: ItemsDeps, responses: DocumentResponses): DataRoute[] {
  const { authenticate, catalog, crsList, about } = deps
  const landing = route(ROOT, (exchange) =>
    andThen(authenticate.optionalKeyOf(exchange), () => {
      const wish = responses.wishOf(exchange, DOCUMENT_ENCODINGS)
      return responses.send(exchange, deps, 'landing', wish, () => {
        const document = landingPage(wish.base, wish.pairs, wish.encoding, about)
        return { document, asHtml: () => landingHtml({ base: wish.base, about }, document) }
      })
    }),
  )

  const conformance = route(`${ROOT}/conformance`, (exchange) =>
    andThen(authenticate.optionalKeyOf(exchange), () => {
      const wish = responses.wishOf(exchange, DOCUMENT_ENCODINGS)
      return responses.send(exchange, deps, 'conformance', wish, () => {
        const document = conformanceDeclaration(wish.base, wish.pairs, wish.encoding, CONFORMANCE)
        return { document, asHtml: () => conformanceHtml({ base: wish.base, about }, document) }
      })
    }),
  )

  const api = route(`${ROOT}/api`, (exchange) =>
    andThen(authenticate.optionalKeyOf(exchange), () => {
      const wish = responses.wishOf(exchange, API_ENCODINGS)
      return andThen(catalog.all(), (datasets) =>
        responses.send(exchange, datasets, 'api', wish, () => {
          const { base, pairs, encoding } = wish
          const document = apiDefinition(base, { datasets, crsList, version, about })
          const links = selfAndAlternates(`${base}${ROOT}/api`, pairs, API_ENCODINGS, encoding)
          return { document, asHtml: () => apiHtml({ base, about }, document, links) }
        }),
      )
    }),
  )

  return [landing, conformance, api]
}

function listRoute(deps: ItemsDeps, responses: DocumentResponses): DataRoute {
  const { authenticate, catalog, crsList, meter, about } = deps
  return route(`${ROOT}/collections`, (exchange) =>
    andThen(authenticate.keyOf(exchange), (grant) => {
      requireAddOn(grant, 'GIS_ACCESS')
      requireAnyRead(grant)
      const wish = responses.wishOf(exchange, DOCUMENT_ENCODINGS)
      meter.record(grant, { operation: 'collections', table: '', format: wish.encoding.name })
      return andThen(catalog.all(), (all) =>
        responses.send(exchange, all, `collections\n${rightsOf(grant)}`, wish, () => {
          const { base, pairs, encoding } = wish
          const datasets = all.filter(({ table }) => mayUse(grant, 'read', table))
          const document = allCollections(datasets, base, crsList, pairs, encoding)
          return { document, asHtml: () => collectionsHtml({ base, about }, document) }
        }),
      )
    }),
  )
}

function collectionRoutes({ crsList, about }: ItemsDeps, responses: DocumentResponses): DataRoute[] {
  const collection = route(`${ROOT}/collections/:table`, (exchange, { table }) =>
    responses.ofCollection(
      exchange,
      table!,
      DOCUMENT_ENCODINGS,
      'collection',
      (dataset, { base, pairs, encoding }) => {
        const document = oneCollection(dataset, base, crsList, pairs, encoding)
        return { document, asHtml: () => collectionHtml({ base, about }, dataset, document) }
      },
    ),
  )

  const schemas = (['schema', 'queryables', 'sortables'] satisfies SchemaKind[]).map((kind) =>
    route(`${ROOT}/collections/:table/${kind}`, (exchange, { table }) =>
      responses.ofCollection(
        exchange,
        table!,
        SCHEMA_ENCODINGS,
        kind,
        (dataset, { base, pairs, encoding }) => {
          const document = collectionSchema(kind, dataset, base)
          const url = `${base}${ROOT}/collections/${dataset.table}/${kind}`
          const links = selfAndAlternates(url, pairs, SCHEMA_ENCODINGS, encoding)
          return { document, asHtml: () => schemaHtml({ base, about }, dataset, kind, document, links) }
        },
      ),
    ),
  )

  return [collection, ...schemas]
}

/** What determines which collections a key's list has. */
function rightsOf({ permissions }: Grant): string {
  if (permissions.has('read')) return 'read'
  return [...permissions]
    .filter((permission) => permission.startsWith('read'))
    .sort()
    .join(' ')
}

/** The list contains the collections that the key may read. A key without any read permission is an error. */
function requireAnyRead({ permissions }: Grant): void {
  for (const permission of permissions) if (permission.startsWith('read')) return
  throw new Problem('permission-missing', 'The API key lacks the permission "read".')
}
