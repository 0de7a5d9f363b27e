import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset } from '../catalog/dataset.ts'
import type { OpenSnapshots } from '../catalog/open-snapshots.ts'
import type { Clock } from '../clock.ts'
import type { Authenticate } from '../http/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { App } from '../http/frame.ts'
import { type Grant, requireAddOn, requirePermission } from '../keys/grant.ts'
import type { Meter } from '../usage/meter.ts'
import type { CrsList } from './crs-list.ts'
import { writeCursor } from './cursor.ts'
import { PAGE_TAIL, pageHead, pageLinks } from './geojson-page.ts'
import type { Items } from './items.ts'
import { readItemsQuery } from './items-query.ts'
import { ROOT } from './links.ts'
import { readQuery } from './query-string.ts'
import { readPieces } from './read-selected.ts'
import { CACHE_CONTROL, isUnchanged, VARY, weakTag } from './respond.ts'
import { positionAt } from './selected.ts'

export interface ItemsRouteParts {
  authenticate: Authenticate
  baseUrl: BaseUrl
  catalog: Catalog
  clock: Clock
  crsList: CrsList
  items: Items
  keyInUrl: boolean
  meter: Meter
  snapshots: OpenSnapshots
}

export function itemsRoutes(app: App, parts: ItemsRouteParts): void {
  app.get(`${ROOT}/collections/:table/items`, (request, reply) => sendItems(request, reply, parts))
}

/** The key of the request and the dataset it asks for, which the key may read. */
export async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, catalog }: Pick<ItemsRouteParts, 'authenticate' | 'catalog'>,
): Promise<{ grant: Grant; dataset: Dataset }> {
  const grant = await authenticate.key(request, reply)
  requireAddOn(grant, 'GIS_ACCESS')
  const found = catalog.find((request.params as { table: string }).table)
  const dataset = found instanceof Promise ? await found : found
  requirePermission(grant, 'read', dataset.table)
  return { grant, dataset }
}

async function sendItems(request: FastifyRequest, reply: FastifyReply, parts: ItemsRouteParts) {
  const { grant, dataset } = await admit(request, reply, parts)
  const { items, snapshots, meter, clock } = parts
  const query = readItemsQuery(readQuery(request.url), request.headers.accept, dataset, parts)
  const begun = items.start(dataset, query)
  const { version, after } = begun instanceof Promise ? await begun : begun
  const base = parts.baseUrl.of(request)
  const { encoding, crs } = query
  const tag = weakTag(version.snapshot, dataset.updatedAt, base, request.url, encoding.mediaType, query.limit)
  reply.header('vary', VARY).header('cache-control', CACHE_CONTROL).header('etag', tag)
  meter.record(grant, { operation: 'items', table: dataset.table, format: encoding.name })
  if (isUnchanged(request, tag)) return reply.code(304).send()
  return snapshots.use(version.snapshot, async (snapshot) => {
    const chosen = items.select(snapshot, query, after, query.limit)
    const selected = chosen instanceof Promise ? await chosen : chosen
    const counted = items.count(snapshot, query)
    const matched = counted instanceof Promise ? await counted : counted
    const last = selected.count === 0 ? after : positionAt(selected, selected.count - 1)
    const next = selected.more
      ? writeCursor({ version: version.version, position: last }, `${dataset.table}\n${query.selection}`)
      : null
    const links = pageLinks(dataset, base, query.pairs, encoding, next)
    const head = pageHead({ links, returned: selected.count, matched, timeStamp: clock().toISOString() })
    const pieces = await readPieces(snapshot, selected)
    reply.header('content-type', encoding.mediaType).header('content-crs', `<${crs.uri}>`)
    return reply.send(Buffer.concat([Buffer.from(head), ...pieces, PAGE_TAIL]))
  })
}
