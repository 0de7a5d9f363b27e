import { grantedTables, mayRead } from '../../accounts/access/dataset-access.ts'
import { type Grant, requireAddOn } from '../../accounts/access/grant.ts'
import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { Problem } from '../../base/problem.ts'
import { version } from '../../base/version.ts'
import type { Dataset, ListedDataset } from '../../data/catalog/dataset.ts'
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
    grant: Grant | null = null,
  ): DataResponse {
    const variant = `${name}\n${base}\n${encoding.name}\n${linkQuery(pairs, [])}`
    const makeText = () => {
      const { document, asHtml } = make()
      return encoding === html ? asHtml() : JSON.stringify(document)
    }
    return this.#documents.respond(exchange, owner, variant, encoding, makeText, grant)
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
      return this.send(exchange, dataset, name, wish, () => make(dataset, wish), grant)
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
    andThen(authenticate.optionalKeyOf(exchange), (grant) => {
      const wish = responses.wishOf(exchange, API_ENCODINGS)
      return andThen(catalog.allFor(grant), (datasets) =>
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

/** The list contains the collections that the caller may read: without a key, those of open datasets. */
function listRoute(deps: ItemsDeps, responses: DocumentResponses): DataRoute {
  const { authenticate, catalog, crsList, meter, about, clock } = deps
  return route(`${ROOT}/collections`, (exchange) =>
    andThen(lister(exchange), (grant) => {
      requireAnyRead(grant)
      const wish = responses.wishOf(exchange, DOCUMENT_ENCODINGS)
      return andThen(catalog.allFor(grant), (all) => {
        const isReadable = (dataset: ListedDataset) => mayRead(grant, dataset, 'features', clock)
        if (!grant.addOns.has('GIS_ACCESS') && !all.some(isReadable)) requireAddOn(grant, 'GIS_ACCESS')
        meter.record(grant, { operation: 'collections', table: '', format: wish.encoding.name })
        const make = () => {
          const { base, pairs, encoding } = wish
          const document = allCollections(all.filter(isReadable), base, crsList, pairs, encoding)
          return { document, asHtml: () => collectionsHtml({ base, about }, document) }
        }
        return responses.send(exchange, all, `collections\n${rightsOf(grant, clock)}`, wish, make, grant)
      })
    }),
  )

  function lister(exchange: Exchange): MaybePromise<Grant> {
    if (authenticate.hasKey(exchange.request)) return authenticate.keyOf(exchange)
    return andThen(catalog.hasOpen(), (hasOpen) =>
      hasOpen ? authenticate.openDataOf(exchange) : authenticate.keyOf(exchange),
    )
  }
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

/** What determines which collections a key's list has, of those that it may know of. */
function rightsOf(grant: Grant, clock: Clock): string {
  const { permissions, addOns, scope, organizationId } = grant
  const read = permissions.has('read')
    ? 'read'
    : [...permissions]
        .filter((permission) => permission.startsWith('read'))
        .sort()
        .join(' ')
  if (grant.datasetGrants.size === 0 && addOns.has('GIS_ACCESS')) return read
  const granted = grantedTables(grant, 'features', clock).join(' ')
  return `${read}\n${addOns.has('GIS_ACCESS')}\n${scope}\n${organizationId}\n${granted}`
}

/** A key without any read permission is an error. */
function requireAnyRead({ permissions }: Grant): void {
  for (const permission of permissions) if (permission.startsWith('read')) return
  throw new Problem('permission-missing', 'The API key lacks the permission "read".')
}
