import type { Snapshot } from '@wayleave/geodata/features'
import {
  type AggregateResult,
  type Dimension,
  type FilterPlan,
  type GeometryForm,
  type Named,
  planInSteps,
  type TimedWork,
} from '@wayleave/query'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { authRequestOf } from '../../accounts/access/authenticate.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import type { App } from '../../http/fastify-app.ts'
import { BODY_LIMIT, LONG_BODY_LIMIT } from '../../http/json-bodies.ts'
import { exchangeOf } from '../../http/sockets/fastify-transport.ts'
import { admit, readInSteps, tableOf } from '../items/admit.ts'
import type { ItemsDeps } from '../items/items-page.ts'
import { arrow, csv, geojsonAreas, json, parquet } from '../request/encodings.ts'
import { SEARCH_LIMITS } from '../request/items-query.ts'
import { readQuery } from '../request/query-string.ts'
import { readSearchBody } from '../request/search-body.ts'
import { type Link, linkHeader, linkQuery, ROOT } from '../write/links.ts'
import { cacheControlFor, sendTagged, VARY } from '../write/respond.ts'
import { csvBody, geojsonBody, jsonBody, type ShownColumn, type ShownResult } from './aggregate-body.ts'
import { type AggregateRequest, areasOf, isTable, readAggregateRequest } from './aggregate-request.ts'
import { zonesOf } from './zones-of.ts'

/** The routes of aggregates: the features that match in groups, with measures of each group. */
export function aggregateRoutes(app: App, deps: ItemsDeps): void {
  const path = `${ROOT}/collections/:table/aggregate`
  app.get(path, (request, reply) => respond(request, reply, deps))
  app.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    // Parsed after the key was checked, and so that large integers are exact.
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body.toString()),
    )
    scope.post(path, { bodyLimit: LONG_BODY_LIMIT }, (request, reply) => {
      const body = typeof request.body === 'string' ? request.body : ''
      return respond(request, reply, { ...deps, limits: SEARCH_LIMITS }, body)
    })
  })
}

type AggregateDeps = ItemsDeps & { limits?: typeof SEARCH_LIMITS }

async function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: AggregateDeps,
  body: string | null = null,
): Promise<FastifyReply> {
  const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps)
  const isLong = body !== null && body.length > BODY_LIMIT
  const read = (current: Dataset) => readInSteps(grant, deps, readSteps(request, body, current, deps), isLong)
  const first = await read(dataset)
  const { encoding } = first.query
  deps.meter.record(grant, { operation: 'aggregate', table: dataset.table, format: encoding.name })
  const exchange = exchangeOf(request, reply)
  const work = deps.workload.begin(grant.owner, () => exchange.disconnected())
  try {
    const shown = await deps.catalog.withCurrent(dataset, async (current) => {
      const { query, plan } = current === dataset ? first : await read(current)
      const result = await aggregate(grant, current, query, plan, work, deps)
      return shownResult(result, query, current, deps.baseUrl.of(request), request.method === 'POST')
    })
    return await send(request, reply, grant, first.query, shown, work, deps)
  } finally {
    work.end()
  }
}

function* readSteps(
  request: FastifyRequest,
  body: string | null,
  dataset: Dataset,
  deps: AggregateDeps,
): Generator<void, { query: AggregateRequest; plan: FilterPlan | null }> {
  const pairs = body === null ? readQuery(request.url) : yield* readSearchBody(body)
  const query = readAggregateRequest(pairs, request.headers.accept, dataset, deps)
  yield
  return { query, plan: query.items.conditions && (yield* planInSteps(query.items.conditions, dataset)) }
}

async function aggregate(
  grant: Grant,
  dataset: Dataset,
  request: AggregateRequest,
  plan: FilterPlan | null,
  work: TimedWork,
  deps: AggregateDeps,
): Promise<AggregateResult> {
  const { groupby, measures, having, sort, offset, limit, others, items, encoding } = request
  const isBinary = encoding === parquet || encoding === arrow
  const geometry: GeometryForm | null =
    encoding === geojsonAreas ? 'geojson' : isBinary && areasOf(groupby).length === 1 ? 'wkb' : null
  const dimensions: Named<Dimension>[] = []
  for (const dimension of groupby)
    dimensions.push(dimension.kind === 'within' ? await zonesOf(grant, dimension, deps) : dimension)
  const page = { having, sort, offset, limit, others, geometry }
  const query = { groupby: dimensions, measures, ...page, box: items.box }
  return deps.snapshots.use(dataset, (snapshot: Snapshot) =>
    deps.workload.search(work, () => deps.engine.aggregate(snapshot, query, plan, work)),
  )
}

function shownResult(
  result: AggregateResult,
  { pairs, offset, limit, others, encoding }: AggregateRequest,
  { table, title, columnNotes }: Dataset,
  base: string,
  isPost: boolean,
): ShownResult {
  const columns = result.columns.map(({ name, type, unitOf, unit }): ShownColumn => {
    const shown = unit ?? (unitOf === undefined ? undefined : columnNotes.of(unitOf)?.unit)
    return { name, type, ...(shown ? { unit: shown } : {}) }
  })
  const collection = `${base}${ROOT}/collections/${table}`
  const url = `${collection}/aggregate`
  const next = offset + limit
  const links: Link[] = []
  if (!isPost) links.push({ href: url + linkQuery(pairs, []), rel: 'self', type: encoding.mediaType })
  if (next < result.numberGroups) {
    links.push(
      isPost
        ? {
            href: url,
            rel: 'next',
            type: encoding.mediaType,
            method: 'POST',
            body: { offset: next },
            merge: true,
          }
        : {
            href: url + linkQuery(pairs, ['offset'], `offset=${next}`),
            rel: 'next',
            type: encoding.mediaType,
          },
    )
  }
  links.push({ href: collection, rel: 'collection', type: json.mediaType, title })
  return { ...result, columns, hasOthers: others, links }
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  grant: Grant,
  { encoding }: AggregateRequest,
  shown: ShownResult,
  work: TimedWork,
  { escapeFormulas }: AggregateDeps,
): Promise<FastifyReply> {
  reply.header('ogc-numberreturned', String(shown.rows.length))
  reply.header('ogc-numbermatched', String(shown.numberGroups))
  const mediaType = encoding === csv ? `${csv.mediaType}; charset=utf-8` : encoding.mediaType
  const isGet = request.method !== 'POST'
  // Encodings that cannot contain links have them in a header.
  if (isGet && isTable(encoding)) reply.header('link', linkHeader(shown.links))
  // Loading these libraries takes longer than most responses.
  if (encoding === parquet) {
    const { parquetBody } = await import('./aggregate-parquet.ts')
    return sendUntagged(reply, grant, mediaType, await parquetBody(shown, work))
  }
  if (encoding === arrow) {
    const { arrowBody } = await import('./aggregate-arrow.ts')
    return sendUntagged(reply, grant, mediaType, await arrowBody(shown, work))
  }
  const written =
    encoding === csv
      ? await csvBody(shown, escapeFormulas, work)
      : encoding === geojsonAreas
        ? await geojsonBody(shown, work)
        : await jsonBody(shown, work)
  if (isGet) return sendTagged(request, reply, { ...encoding, mediaType }, written, grant)
  return sendUntagged(reply, grant, mediaType, written.body)
}

function sendUntagged(reply: FastifyReply, grant: Grant, mediaType: string, body: Buffer): FastifyReply {
  reply.header('vary', VARY).header('cache-control', cacheControlFor(grant)).header('content-type', mediaType)
  return reply.send(body)
}
