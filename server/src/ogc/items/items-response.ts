import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Grant } from '../../access/grant.ts'
import type { Dataset } from '../../catalog/dataset.ts'
import { matchesEtag } from '../../http/headers.ts'
import { ISOLATION_HEADERS } from '../../http/pages/html.ts'
import { type DataResponse, emptyResponse, responseOf } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import type { FilterPlan } from '../cql2/plan-filter.ts'
import {
  csv,
  type Encoding,
  flatgeobuf,
  geojson,
  geojsonSeq,
  html,
  jsonFg,
  SEARCH_ENCODINGS,
} from '../request/encodings.ts'
import { type ItemsQuery, readItemsQuery, SEARCH_LIMITS } from '../request/items-query.ts'
import { type QueryPair, readQuery, refuseUnknown } from '../request/query-string.ts'
import { planConditions } from '../select/plan-conditions.ts'
import { readBlock } from '../select/read-selected.ts'
import type { Selected } from '../select/selected.ts'
import { codedTag, codingOf, compressed, type PageCoding, pageCoding } from '../write/compress-page.ts'
import { pageLinks, searchLinks } from '../write/geojson-page.ts'
import { linkHeader } from '../write/links.ts'
import type { PageHead } from '../write/page-content.ts'
import { PAGE_WRITERS } from '../write/page-writers.ts'
import { compressedPageInMemory, plainPageInMemory, readPlainPage } from '../write/plain-page.ts'
import { CACHE_CONTROL, CONTENT_SECURITY_POLICY, VARY } from '../write/respond.ts'
import { admit } from './admit.ts'
import type { FeatureAllowance } from './daily-features.ts'
import { type ItemsDeps, isPlain, nextCursor, type PageRequest, pageTag, timeText } from './items-page.ts'

const VARY_LINE = `vary: ${VARY}\r\n`
const CACHE_LINE = `cache-control: ${CACHE_CONTROL}\r\n`

/**
 * Produces a page of features, from the request to the finished response. All requests for pages take this
 * path. It returns synchronously if everything it needs is in memory (the key, the dataset, the open
 * snapshot, the bytes), otherwise it returns a promise. `readBody` gives the parameters of a search, whose
 * query is in the body of the request instead of its URL.
 *
 * See docs/decisions/two-transports.md.
 */
export function itemsResponse(
  exchange: Exchange,
  table: string,
  deps: ItemsDeps,
  readBody: (() => QueryPair[]) | null = null,
): MaybePromise<DataResponse> {
  return andThen(admit(exchange, table, deps), ({ grant, dataset }) => {
    const { accept } = exchange.request.headers
    const query = readBody
      ? readSearch(exchange, readBody(), dataset, deps)
      : readItemsQuery(readQuery(exchange.url), accept, dataset, deps)
    return andThen(deps.items.start(dataset, query), (start) => {
      const plan = query.conditions && planConditions(query.conditions, start.version)
      const base = deps.baseUrl.of(exchange.caller)
      const page = { ...start, dataset, base, query, isSearch: readBody !== null, cursors: deps.cursors }
      return andThen(deps.dailyFeatures.take(grant.owner, query.limit), (allowance) =>
        pageResponse({ exchange, grant, page, plan, allowance }, deps),
      )
    })
  })
}

function readSearch(exchange: Exchange, pairs: QueryPair[], dataset: Dataset, deps: ItemsDeps): ItemsQuery {
  // A key may be in the URL; all other parameters are in the body.
  refuseUnknown(readQuery(exchange.url), deps.keyInUrl ? ['api_key'] : [])
  const { accept } = exchange.request.headers
  const rules = { crsList: deps.crsList, keyInUrl: false, encodings: SEARCH_ENCODINGS, limits: SEARCH_LIMITS }
  return readItemsQuery(pairs, accept, dataset, rules)
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
    deps.dailyFeatures.release(grant.owner, allowance, limit - returned)
  const tag = pageTag(page, limit, deps.escapeFormulas)
  const coding = pageCoding(exchange.request.headers['accept-encoding'])
  exchange.addHeaderLines(VARY_LINE)
  deps.meter.record(grant, { operation: 'items', table: dataset.table, format: query.encoding.name })
  const unchanged = page.isSearch ? null : unchangedTag(exchange, tag, coding)
  if (unchanged !== null) {
    returnUnused(0)
    exchange.addHeaderLines(CACHE_LINE)
    exchange.setHeader('etag', unchanged)
    return emptyResponse(304)
  }
  if (isPlain(page) && query.ids === null) {
    const pageInMemory =
      coding === null
        ? plainPageInMemory(page, plan, limit, deps)
        : compressedPageInMemory(page, plan, limit, coding, deps)
    if (pageInMemory !== null) {
      returnUnused(pageInMemory.returned)
      return andThen(pageInMemory.response, (response) => {
        setPageHeaders(exchange, page, tag, codingOf(response))
        exchange.setHeader('content-type', geojson.mediaType)
        return response
      })
    }
  }
  return readPage(admitted, tag, coding, deps, returnUnused)
}

/** The tag in `If-None-Match` that the page still has, compressed or not; null if it has another one. */
function unchangedTag(exchange: Exchange, tag: string, coding: PageCoding | null): string | null {
  const header = exchange.request.headers['if-none-match']
  if (header === undefined) return null
  if (matchesEtag(header, tag)) return tag
  return coding !== null && matchesEtag(header, codedTag(tag, coding)) ? codedTag(tag, coding) : null
}

/** Set only once the page is complete, because these headers would be wrong on a problem response. */
function setPageHeaders(
  exchange: Exchange,
  { query, isSearch }: PageRequest,
  tag: string,
  coding: PageCoding | null,
): void {
  exchange.addHeaderLines(CACHE_LINE)
  if (!isSearch) exchange.setHeader('etag', coding === null ? tag : codedTag(tag, coding))
  if (coding !== null) exchange.setHeader('content-encoding', coding)
  exchange.setHeader('content-crs', query.crs.header)
}

async function readPage(
  { exchange, page, plan, allowance }: AdmittedPage,
  tag: string,
  coding: PageCoding | null,
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
      const signal = () => exchange.disconnected()
      const { selected, matched } = await selectPage(snapshot, page, plan, allowance.count, signal, deps)
      if (isPlain(page)) {
        const plain = await readPlainPage(page, snapshot, selected, matched, deps.clock())
        const response = await compressed(plain, coding)
        returned = selected.runs.count
        setPageHeaders(exchange, page, tag, codingOf(response))
        exchange.setHeader('content-type', geojson.mediaType)
        return response
      }
      const next = nextCursor(page, selected)
      const head = {
        links: page.isSearch
          ? searchLinks(dataset, base, query.encoding, next)
          : pageLinks(dataset, base, query.pairs, query.encoding, next),
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
        escapeFormulas: deps.escapeFormulas,
      }
      const body = await PAGE_WRITERS[query.encoding.name](content)
      const response = await compressed(responseOf(200, body), coding)
      // Features that could not be read are not counted.
      returned = selected.runs.count
      setPageHeaders(exchange, page, tag, codingOf(response))
      setEncodingHeaders(exchange, dataset, query.encoding, head)
      // A `Link` header cannot say that the next page needs a body.
      if (page.isSearch && next !== null) exchange.setHeader('ogc-next-cursor', next)
      return response
    })
  } finally {
    returnUnused(returned)
  }
}

/** The features of a page and their total number; for `resulttype=hits` the number alone, always exact. */
async function selectPage(
  snapshot: Snapshot,
  { query, after }: PageRequest,
  plan: FilterPlan | null,
  limit: number,
  signal: () => AbortSignal,
  { items }: ItemsDeps,
): Promise<{ selected: Selected; matched: number | null }> {
  if (query.hitsOnly) {
    const matched = await items.countExactly(snapshot, query, plan, signal)
    return { selected: { runs: new PositionRuns(), more: false }, matched }
  }
  const began = performance.now()
  const selected = await items.select(snapshot, query, plan, { after, limit, signal })
  const selectedMs = performance.now() - began
  return { selected, matched: await items.count(snapshot, query, plan, selected, { selectedMs, signal }) }
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
