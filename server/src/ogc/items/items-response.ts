import type { Snapshot } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import {
  type FilterPlan,
  finish,
  type Hold,
  planInSteps,
  readBlock,
  shorten,
  shortenToBytes,
  type TimedWork,
  Unfinished,
  type Workload,
  WRITING_FACTOR,
} from '@wayleave/query'
import type { Grant } from '../../accounts/access/grant.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { isTracing, traced } from '../../base/tracing/tracing.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { VersionUnreadable } from '../../data/catalog/version-unreadable.ts'
import { matchesEtag } from '../../http/headers.ts'
import { BODY_LIMIT } from '../../http/json-bodies.ts'
import { ISOLATION_HEADERS } from '../../http/pages/html.ts'
import { bodyLength, type DataResponse, emptyResponse, responseOf } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
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
import { readQuery, refuseUnknown } from '../request/query-string.ts'
import { readItemsUrl } from '../request/read-again.ts'
import { readSearchBody } from '../request/search-body.ts'
import { codedTag, codingOf, compressed, type PageCoding, pageCoding } from '../write/compress-page.ts'
import { pageLinks, searchLinks } from '../write/geojson-page.ts'
import { linkHeader } from '../write/links.ts'
import type { PageHead } from '../write/page-content.ts'
import { CACHE_CONTROL, CONTENT_SECURITY_POLICY, OPEN_CACHE_CONTROL, VARY } from '../write/respond.ts'
import { admit, readCharged, readInSteps, sliceFor } from './admit.ts'
import { countedGrant, type FeatureAllowance } from './daily-features.ts'
import { type ItemsDeps, isPlain, nextCursor, type PageRequest, pageTag, timeText } from './items-page.ts'
import { asksForRange, rangeOfPage } from './page-range.ts'
import { pageStart } from './page-start.ts'
import { PAGE_WRITERS } from './page-writers.ts'
import { compressedPageInMemory, plainPage, plainPageInMemory, StartedPage } from './plain-page.ts'
import { type SelectedPage, selectPage } from './select-page.ts'

const VARY_LINE = `vary: ${VARY}\r\n`
/** Pages with fewer bytes of features are not counted: their memory is little more than that of a connection. */
const SMALL_PAGE_BYTES = 1 << 16
const CACHE_LINE = `cache-control: ${CACHE_CONTROL}\r\n`
const OPEN_CACHE_LINE = `cache-control: ${OPEN_CACHE_CONTROL}\r\n`

/**
 * Produces a page of features, from the request to the finished response. All requests for pages take this
 * path. It returns synchronously if everything it needs is in memory (the key, the dataset, the open
 * snapshot, the bytes), otherwise it returns a promise. The query of a search is in the body of the request instead
 * of its URL.
 *
 * See docs/decisions/two-transports.md.
 */
export function itemsResponse(
  exchange: Exchange,
  table: string,
  deps: ItemsDeps,
  body: string | null = null,
): MaybePromise<DataResponse> {
  return andThen(admit(exchange, table, deps), ({ grant, dataset }) =>
    responseFrom(dataset, { exchange, grant, body, isRepeated: false }, deps),
  )
}

/** A request of a client that may read the dataset. */
interface AdmittedRequest {
  exchange: Exchange
  grant: Grant
  /** Of a search. */
  body: string | null
  /** Whether its first version was removed while it was read. */
  isRepeated: boolean
}

function responseFrom(
  dataset: Dataset,
  admitted: AdmittedRequest,
  deps: ItemsDeps,
): MaybePromise<DataResponse> {
  const { exchange, grant, body } = admitted
  const { accept } = exchange.request.headers
  const isLong = body !== null && body.length > BODY_LIMIT
  const reading =
    body === null
      ? readCharged(grant, deps, () => readItemsUrl(exchange.url, accept, dataset, deps))
      : readInSteps(grant, deps, readSearch(exchange, body, dataset, deps), isLong)
  return andThen(reading, (query) =>
    andThen(pageStart(dataset, query, deps), (start) =>
      andThen(sliceFor(grant, exchange.request), () => {
        const { conditions } = query
        const planning =
          conditions && readInSteps(grant, deps, planInSteps(conditions, start.version), isLong)
        return andThen(planning, (plan) => {
          const base = deps.baseUrl.of(exchange.caller)
          const page = { ...start, dataset, base, query, isSearch: body !== null, cursors: deps.cursors }
          return andThen(deps.dailyFeatures.take(countedGrant(grant, dataset), query.limit), (allowance) =>
            pageResponse({ admitted, page, plan, allowance }, deps),
          )
        })
      }),
    ),
  )
}

function* readSearch(
  exchange: Exchange,
  body: string,
  dataset: Dataset,
  deps: ItemsDeps,
): Generator<void, ItemsQuery> {
  const pairs = yield* readSearchBody(body)
  // A key may be in the URL; all other parameters are in the body.
  refuseUnknown(readQuery(exchange.url), [])
  const { accept } = exchange.request.headers
  const rules = { crsList: deps.crsList, encodings: SEARCH_ENCODINGS, limits: SEARCH_LIMITS }
  return readItemsQuery(pairs, accept, dataset, rules)
}

/** A page that was asked for, and what the client may get of it. */
interface AdmittedPage {
  admitted: AdmittedRequest
  page: PageRequest
  plan: FilterPlan | null
  /** The max number of features: fewer than requested if the key's daily limit is nearly reached. */
  allowance: FeatureAllowance
}

/** A page that has to wait for something. */
interface WaitingPage extends AdmittedPage {
  /** What was found of it already. */
  started: StartedPage | null
}

function pageResponse(admittedPage: AdmittedPage, deps: ItemsDeps): MaybePromise<DataResponse> {
  const { admitted, page, plan, allowance } = admittedPage
  const { exchange, grant, isRepeated } = admitted
  const { dataset, query } = page
  const limit = allowance.count
  // HEAD sends no features.
  const returnUnused = (returned: number) =>
    deps.dailyFeatures.release(
      countedGrant(grant, dataset),
      allowance,
      exchange.request.method === 'HEAD' ? limit : limit - returned,
    )
  const tag = pageTag(page, limit, deps.escapeFormulas)
  const isPart = asksForRange(exchange) && !page.isSearch
  // Clients that read a page in parts learn its length by HEAD, and the parts are not compressed.
  const isCompressible = !isPart && exchange.request.method !== 'HEAD'
  const coding = isCompressible ? pageCoding(exchange.request.headers['accept-encoding']) : null
  const partOf = (response: DataResponse) => (isPart ? rangeOfPage(exchange, response, tag) : response)
  if (!isRepeated) {
    exchange.addHeaderLines(VARY_LINE)
    deps.meter.record(grant, { operation: 'items', table: dataset.table, format: query.encoding.name })
  }
  const unchanged = page.isSearch ? null : unchangedTag(exchange, tag, coding)
  if (unchanged !== null) {
    returnUnused(0)
    exchange.addHeaderLines(cacheLine(grant))
    exchange.setHeader('etag', unchanged)
    return emptyResponse(304)
  }
  let started: StartedPage | null = null
  if (isPlain(page)) {
    // Without traces, no closure is made for each request.
    const pageInMemory = isTracing()
      ? traced('select in memory', () => selectInMemory(page, plan, limit, coding, deps))
      : selectInMemory(page, plan, limit, coding, deps)
    if (pageInMemory instanceof StartedPage) started = pageInMemory
    else if (pageInMemory !== null) {
      returnUnused(pageInMemory.returned)
      return andThen(pageInMemory.response, (response) => {
        setPageHeaders(admitted, page, tag, codingOf(response))
        exchange.setSafeHeader('content-type', geojson.mediaType)
        return partOf(response)
      })
    }
  }
  const written = readPage({ ...admittedPage, started }, tag, coding, deps, returnUnused)
  return written.then(partOf, async (error: unknown) => {
    // A cursor names the version that it continues.
    if (!(error instanceof VersionUnreadable) || isRepeated || query.cursor !== null) throw error
    const current = await deps.catalog.findAgain(dataset.table)
    return responseFrom(current, { ...admitted, isRepeated: true }, deps)
  })
}

function selectInMemory(
  page: PageRequest,
  plan: FilterPlan | null,
  limit: number,
  coding: PageCoding | null,
  deps: ItemsDeps,
) {
  return coding === null
    ? plainPageInMemory(page, plan, limit, deps)
    : compressedPageInMemory(page, plan, limit, coding, deps)
}

/** The tag in `If-None-Match` that the page still has, compressed or not; null if it has another one. */
function unchangedTag(exchange: Exchange, tag: string, coding: PageCoding | null): string | null {
  const header = exchange.request.headers['if-none-match']
  if (header === undefined) return null
  if (matchesEtag(header, tag)) return tag
  return coding !== null && matchesEtag(header, codedTag(tag, coding)) ? codedTag(tag, coding) : null
}

function cacheLine({ scope }: Grant): string {
  return scope === 'anonymous' ? OPEN_CACHE_LINE : CACHE_LINE
}

/** Set only once the page is complete, because these headers would be wrong on a problem response. */
function setPageHeaders(
  { exchange, grant }: AdmittedRequest,
  { query, isSearch }: PageRequest,
  tag: string | null,
  coding: PageCoding | null,
): void {
  exchange.addHeaderLines(cacheLine(grant))
  if (!isSearch && tag !== null) exchange.setSafeHeader('etag', coding === null ? tag : codedTag(tag, coding))
  if (coding !== null) exchange.setSafeHeader('content-encoding', coding)
  exchange.setSafeHeader('content-crs', query.crs.header)
}

async function readPage(
  waitingPage: WaitingPage,
  tag: string,
  coding: PageCoding | null,
  deps: ItemsDeps,
  returnUnused: (returned: number) => void,
): Promise<DataResponse> {
  const { page } = waitingPage
  const { exchange, grant } = waitingPage.admitted
  const work = deps.workload.begin(grant.owner, () => exchange.disconnected())
  // Features that could not be read are not counted.
  let returned = 0
  try {
    return await deps.snapshots.use(page.version, async (snapshot) => {
      const written = await writeSelected(waitingPage, snapshot, work, deps)
      const response = await compressed(written.response, coding)
      returned = written.returned
      written.memory?.reduceTo(bodyLength(response))
      // A page that was shortened for lack of time would be another one next time.
      setPageHeaders(waitingPage.admitted, page, written.isLate ? null : tag, codingOf(response))
      written.setHeaders()
      return response
    })
  } finally {
    work.end()
    returnUnused(returned)
  }
}

interface WrittenSelection {
  response: DataResponse
  returned: number
  /** Whether it has fewer features because writing them took too long. */
  isLate: boolean
  /** What the page holds of the memory for pages, until it is sent. */
  memory: Hold | null
  setHeaders(): void
}

/** Selects the features of a page, and writes as many of them as a page may have. */
async function writeSelected(
  waitingPage: WaitingPage,
  snapshot: Snapshot,
  work: TimedWork,
  deps: ItemsDeps,
): Promise<WrittenSelection> {
  const { page } = waitingPage
  const { exchange } = waitingPage.admitted
  const { dataset, version, base, query } = page
  // FlatGeobuf determines the widths of its integers from this file.
  if (query.encoding === flatgeobuf) {
    await deps.verification.requireFile(snapshot.folder, snapshot.manifest, SNAPSHOT_FILES.rows)
  }
  const { selected: all, matched } = await traced('select', () =>
    finishSelection(waitingPage, snapshot, work, deps),
  )
  const selected = await shortenToBytes(snapshot, all, pageBytes(query.encoding, deps.workload))
  if (selected !== all) deps.workload.shortened.bytes++
  const memory = await holdMemory(exchange, page, await snapshot.bytesOf(selected.runs), work, deps.workload)
  if (isPlain(page)) {
    const response = await finish(plainPage(page, snapshot, { selected, matched }, deps.clock()), work)
    const setHeaders = () => exchange.setHeader('content-type', geojson.mediaType)
    return { response, returned: selected.runs.count, isLate: false, memory, setHeaders }
  }
  const timeStamp = timeText(deps.clock())
  const nextOf = (returned: number) => nextCursor(page, shorten(selected, returned))
  const head = (returned: number): PageHead => {
    const next = nextOf(returned)
    const links = page.isSearch
      ? searchLinks(dataset, base, query.encoding, next)
      : pageLinks(dataset, base, query.pairs, query.encoding, next)
    return { links, returned, matched, timeStamp }
  }
  const block = await readBlock(snapshot, selected.runs, work)
  const { body, returned } = await PAGE_WRITERS[query.encoding.name]({
    dataset,
    manifest: version.manifest,
    folder: snapshot.folder,
    base,
    query,
    head,
    block,
    escapeFormulas: deps.escapeFormulas,
    about: deps.about,
    work,
    until: performance.now() + deps.workload.pageMs,
  })
  const setHeaders = () => {
    setEncodingHeaders(exchange, dataset, query.encoding, head(returned))
    const next = nextOf(returned)
    // A `Link` header cannot say that the next page needs a body.
    if (page.isSearch && next !== null) exchange.setHeader('ogc-next-cursor', next)
  }
  const isLate = returned < block.count
  if (isLate) deps.workload.shortened.time++
  return { response: responseOf(200, body), returned, isLate, memory, setHeaders }
}

/** An HTML page has a map, for which its geometries are parsed: they need ten times the memory of their text. */
function pageBytes(encoding: Encoding, workload: Workload): number {
  return encoding === html ? workload.pageBytes / 4 : workload.pageBytes
}

/**
 * Reserves the memory that a page needs, until it is sent or the client has disconnected. Small pages need not
 * wait for large ones.
 */
async function holdMemory(
  exchange: Exchange,
  page: PageRequest,
  bytes: number,
  work: TimedWork,
  { pages }: Workload,
): Promise<Hold | null> {
  if (bytes <= SMALL_PAGE_BYTES) return null
  const hold = await pages.acquire(work.owner, isPlain(page) ? bytes : bytes * WRITING_FACTOR, work.signal)
  exchange.whenClosed(() => hold.release())
  return hold
}

/** Goes on with what was found of the page, unless its snapshot was closed meanwhile. */
async function finishSelection(
  { page, plan, allowance, started }: WaitingPage,
  snapshot: Snapshot,
  work: TimedWork,
  { engine, workload }: ItemsDeps,
): Promise<SelectedPage> {
  const startedSelection = started?.snapshot === snapshot ? started.selecting : null
  if (startedSelection !== null && !(startedSelection instanceof Unfinished)) return startedSelection
  const select = async () =>
    finish(startedSelection ?? selectPage(snapshot, page, plan, { limit: allowance.count }, engine), work)
  const { box, ids, sort } = page.query
  const isSearch = plan !== null || ids !== null || box !== null || sort.length > 0
  return isSearch ? workload.search(work, select) : select()
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
