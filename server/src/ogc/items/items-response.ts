import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot/manifest.ts'
import type { Grant } from '../../access/grant.ts'
import type { Dataset } from '../../catalog/dataset.ts'
import { matchesEtag } from '../../http/matches-etag.ts'
import { ISOLATION_HEADERS } from '../../http/pages/html.ts'
import { type DataResponse, emptyResponse, responseOf } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { FilterPlan } from '../cql2/plan-filter.ts'
import { csv, type Encoding, flatgeobuf, geojson, geojsonSeq, html, jsonFg } from '../request/encodings.ts'
import { readItemsQuery } from '../request/items-query.ts'
import { readQuery } from '../request/query-string.ts'
import { planConditions } from '../select/plan-conditions.ts'
import { readBlock } from '../select/read-selected.ts'
import { pageLinks } from '../write/geojson-page.ts'
import { linkHeader } from '../write/links.ts'
import type { PageHead } from '../write/page-content.ts'
import { PAGE_WRITERS } from '../write/page-writers.ts'
import { plainPageInMemory, readPlainPage } from '../write/plain-page.ts'
import { CACHE_CONTROL, CONTENT_SECURITY_POLICY, VARY } from '../write/respond.ts'
import { admit } from './admit.ts'
import type { FeatureAllowance } from './daily-features.ts'
import { type ItemsDeps, isPlain, nextCursor, type PageRequest, pageTag, timeText } from './items-page.ts'

const VARY_LINE = `vary: ${VARY}\r\n`
const CACHE_LINE = `cache-control: ${CACHE_CONTROL}\r\n`

/**
 * Produces a page of features, from the request to the finished response. All requests for pages take this
 * path. It returns synchronously if everything it needs is in memory (the key, the dataset, the open
 * snapshot, the bytes), otherwise it returns a promise.
 *
 * See docs/decisions/two-transports.md.
 */
export function itemsResponse(
  exchange: Exchange,
  table: string,
  deps: ItemsDeps,
): MaybePromise<DataResponse> {
  return andThen(admit(exchange, table, deps), ({ grant, dataset }) => {
    const { accept } = exchange.request.headers
    const query = readItemsQuery(readQuery(exchange.url), accept, dataset, deps)
    return andThen(deps.items.start(dataset, query), (start) => {
      const plan = query.conditions && planConditions(query.conditions, start.version)
      const page = { ...start, dataset, base: deps.baseUrl.of(exchange.caller), query }
      return andThen(deps.dailyFeatures.take(grant.payer, query.limit), (allowance) =>
        pageResponse({ exchange, grant, page, plan, allowance }, deps),
      )
    })
  })
}

/** An authenticated and parsed request for a page. */
interface AdmittedPage {
  exchange: Exchange
  grant: Grant
  page: PageRequest
  plan: FilterPlan | null
  /** The max number of features: fewer than requested if the key's daily limit is nearly reached. */
  allowance: FeatureAllowance
}

function pageResponse(admitted: AdmittedPage, deps: ItemsDeps): MaybePromise<DataResponse> {
  const { exchange, grant, page, plan, allowance } = admitted
  const { dataset, query } = page
  const limit = allowance.count
  const returnUnused = (returned: number) =>
    deps.dailyFeatures.giveBack(grant.payer, allowance, limit - returned)
  const tag = pageTag(page, limit)
  exchange.addHeaderLines(VARY_LINE)
  deps.meter.record(grant, { operation: 'items', table: dataset.table, format: query.encoding.name })
  if (matchesEtag(exchange.request.headers['if-none-match'], tag)) {
    returnUnused(0)
    exchange.addHeaderLines(CACHE_LINE)
    exchange.setHeader('etag', tag)
    return emptyResponse(304)
  }
  if (isPlain(query) && plan === null && query.sort.length === 0) {
    const pageInMemory = plainPageInMemory(page, limit, deps)
    if (pageInMemory !== null) {
      returnUnused(pageInMemory.returned)
      setPageHeaders(exchange, page, tag)
      exchange.setHeader('content-type', geojson.mediaType)
      return pageInMemory.response
    }
  }
  return readPage(admitted, tag, deps, returnUnused)
}

/** Set only once the page is complete, because these headers would be wrong on a problem response. */
function setPageHeaders(exchange: Exchange, { query }: PageRequest, tag: string): void {
  exchange.addHeaderLines(CACHE_LINE)
  exchange.setHeader('etag', tag)
  exchange.setHeader('content-crs', query.crs.header)
}

async function readPage(
  { exchange, page, plan, allowance }: AdmittedPage,
  tag: string,
  deps: ItemsDeps,
  returnUnused: (returned: number) => void,
): Promise<DataResponse> {
  const { dataset, version, base, query } = page
  let returned = 0
  try {
    return await deps.snapshots.use(version, async (snapshot) => {
      // FlatGeobuf determines the widths of its integers from this file.
      if (query.encoding === flatgeobuf) {
        await deps.verification.requireFile(snapshot.folder, snapshot.manifest, SNAPSHOT_FILES.rows)
      }
      const reading = { after: page.after, limit: allowance.count, signal: () => exchange.disconnected() }
      const selected = await deps.items.select(snapshot, query, plan, reading)
      const matched = await deps.items.count(snapshot, query, plan, selected)
      if (isPlain(query)) {
        const response = await readPlainPage(page, snapshot, selected, matched, deps.clock())
        returned = selected.runs.count
        setPageHeaders(exchange, page, tag)
        exchange.setHeader('content-type', geojson.mediaType)
        return response
      }
      const head = {
        links: pageLinks(dataset, base, query.pairs, query.encoding, nextCursor(page, selected)),
        returned: selected.runs.count,
        matched,
        timeStamp: timeText(deps.clock()),
      }
      const block = await readBlock(snapshot, selected.runs)
      const content = {
        dataset,
        manifest: version.manifest,
        folder: snapshot.folder,
        base,
        query,
        head,
        block,
      }
      const body = await PAGE_WRITERS[query.encoding.name](content)
      // Features that could not be read are not counted.
      returned = selected.runs.count
      setPageHeaders(exchange, page, tag)
      setEncodingHeaders(exchange, dataset, query.encoding, head)
      return responseOf(200, body)
    })
  } finally {
    returnUnused(returned)
  }
}

/** Encodings that cannot contain links and counts have them in headers. */
function setEncodingHeaders(
  exchange: Exchange,
  { table }: Dataset,
  encoding: Encoding,
  head: PageHead,
): void {
  const isText = encoding === csv || encoding === html
  exchange.setHeader('content-type', isText ? `${encoding.mediaType}; charset=utf-8` : encoding.mediaType)
  if (encoding === html) {
    exchange.setHeader('content-security-policy', CONTENT_SECURITY_POLICY)
    exchange.setHeader('referrer-policy', 'same-origin')
    for (const [name, value] of Object.entries(ISOLATION_HEADERS)) exchange.setHeader(name, value)
    return
  }
  if (encoding === geojson || encoding === jsonFg) return
  exchange.setHeader('link', linkHeader(head.links))
  exchange.setHeader('ogc-numberreturned', String(head.returned))
  if (head.matched !== null) exchange.setHeader('ogc-numbermatched', String(head.matched))
  const extension = encoding === geojsonSeq ? 'geojsons' : encoding.name
  exchange.setHeader('content-disposition', `attachment; filename="${table}.${extension}"`)
}
