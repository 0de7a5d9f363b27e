import type { Snapshot } from '@wayleave/geodata/features'
import { type FacetResult, planInSteps } from '@wayleave/query'
import { authRequestOf } from '../../accounts/access/authenticate.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import type { App } from '../../http/fastify-app.ts'
import { exchangeOf } from '../../http/sockets/fastify-transport.ts'
import { admit, readInSteps, tableOf } from '../items/admit.ts'
import type { ItemsDeps } from '../items/items-page.ts'
import { json } from '../request/encodings.ts'
import { readQuery } from '../request/query-string.ts'
import { linkQuery, ROOT } from '../write/links.ts'
import { sendDocument } from '../write/respond.ts'
import { type FacetRequest, readFacetQuery } from './facet-query.ts'

/** The route of facets: the values of columns, counted among the features that match, and their extent. */
export function facetRoutes(app: App, deps: ItemsDeps): void {
  app.get(`${ROOT}/collections/:table/facets`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps)
    const steps = function* (current: Dataset) {
      const query = readFacetQuery(readQuery(request.url), request.headers.accept, current, deps)
      yield
      const { conditions } = query.items
      return { query, plan: conditions && (yield* planInSteps(conditions, current)) }
    }
    const read = (current: Dataset) => readInSteps(grant, deps, steps(current))
    const first = await read(dataset)
    deps.meter.record(grant, { operation: 'facets', table: dataset.table, format: 'json' })
    const exchange = exchangeOf(request, reply)
    const work = deps.workload.begin(grant.owner, () => exchange.disconnected())
    try {
      const text = await deps.catalog.withCurrent(dataset, async (current) => {
        const { query, plan } = current === dataset ? first : await read(current)
        const result = await deps.snapshots.use(current, (snapshot: Snapshot) =>
          deps.workload.search(work, () => deps.engine.facets(snapshot, query, plan, work)),
        )
        return facetText(result, query, current, deps.baseUrl.of(request))
      })
      return sendDocument(request, reply, json, text, grant)
    } finally {
      work.end()
    }
  })
}

/** Integers of any size are JSON numbers. TypeScript does not know `JSON.rawJSON` yet. */
function exactJson(document: object): string {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
  return JSON.stringify(document, (_name, value: unknown) =>
    typeof value === 'bigint' ? rawJSON(String(value)) : value,
  )
}

function facetText(
  { matched, extent, facets }: FacetResult,
  { pairs, omitted }: FacetRequest,
  { table, title }: Dataset,
  base: string,
): string {
  const collection = `${base}${ROOT}/collections/${table}`
  const document = {
    numberMatched: matched,
    extent,
    facets: Object.fromEntries(facets),
    omitted: omitted.length > 0 ? omitted : undefined,
    links: [
      {
        href: `${collection}/facets${linkQuery(pairs, [])}`,
        rel: 'self',
        type: json.mediaType,
        title: 'This document',
      },
      { href: collection, rel: 'collection', type: json.mediaType, title },
    ],
  }
  return exactJson(document)
}
