import type { QueryEngine, Selected, Workload } from '@wayleave/query'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import type { Meter } from '../../accounts/usage/meter.ts'
import type { Clock } from '../../base/clock.ts'
import type { Verification } from '../../data/catalog/background-verification.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import type { OpenSnapshots } from '../../data/catalog/open-snapshots.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import { type CrsList, isPackCrs } from '../request/crs-list.ts'
import type { Cursors } from '../request/cursor.ts'
import { csv, geojson, ITEMS_ENCODINGS } from '../request/encodings.ts'
import { hash64 } from '../request/hash64.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import type { QueryPair } from '../request/query-string.ts'
import { keptPairs } from '../request/read-again.ts'
import type { GeojsonHead } from '../write/page-head-text.ts'
import type { DailyFeatures } from './daily-features.ts'
import type { PageStart } from './page-start.ts'

export interface ItemsDeps {
  authenticate: Authenticate
  baseUrl: BaseUrl
  catalog: Catalog
  clock: Clock
  crsList: CrsList
  cursors: Cursors
  dailyFeatures: DailyFeatures
  escapeFormulas: boolean
  about: About
  engine: QueryEngine
  meter: Meter
  snapshots: OpenSnapshots
  verification: Verification
  workload: Workload
}

/** The query of a page of features, and the position where the page begins. */
export interface PageRequest extends PageStart {
  dataset: Dataset
  base: string
  query: ItemsQuery
  /** Whether the query is in the body of a POST request, so that links cannot contain it. */
  isSearch: boolean
  cursors: Cursors
}

/** Whether the page's features are sent exactly as they are in the pack. */
export function isPlain({ query: { encoding, crs, shown, hitsOnly }, isSearch }: PageRequest): boolean {
  return encoding === geojson && isPackCrs(crs) && shown === null && !hitsOnly && !isSearch
}

/**
 * The ETag of a page. It covers everything that determines the content besides the URL: the version, the data
 * that links and titles are made from, the encoding, and the max number of features, which is lower than
 * requested if the key's daily limit is nearly reached.
 */
export function pageTag(
  { version, dataset, base, query }: PageRequest,
  limit: number,
  escapeFormulas: boolean,
): string {
  const variant = escapeFormulas && query.encoding === csv ? 'e' : ''
  return `W/"${contentTag(version, dataset, base)}.${ITEMS_ENCODINGS.indexOf(query.encoding)}${variant}.${limit}"`
}

/** A tag of everything that a response about a version is made of, besides its URL and encoding. */
export function contentTag(version: Version, dataset: Dataset, base: string): string {
  const cached = contentTags.get(version)
  const { updatedAt } = dataset
  if (cached && cached.base === base && cached.updatedAt === updatedAt) return cached.tag
  const [high, low] = hash64(`${version.snapshot}\n${updatedAt}\n${base}`)
  const tag = `${high.toString(36)}.${low.toString(36)}`
  contentTags.set(version, { base, updatedAt, tag })
  return tag
}

const contentTags = new WeakMap<Version, { base: string; updatedAt: string; tag: string }>()

/** The cursor of the next page; null on the last page. */
export function nextCursor(
  { dataset, version, query, after, cursors }: PageRequest,
  selected: Selected,
): string | null {
  if (!selected.more) return null
  const position = selected.runs.length === 0 ? after : selected.runs.last
  const { pairs } = query
  const kept = keptCursors.get(pairs)
  if (kept?.dataset === dataset && kept.version === version && kept.position === position) return kept.cursor
  const cursor = cursors.write({ version: version.version, position }, dataset.table, query.selection)
  if (keptPairs.has(pairs)) keptCursors.set(pairs, { dataset, version, position, cursor })
  return cursor
}

/** The last cursor of each query that is kept: signing takes a tenth of the time of a page of ten features. */
const keptCursors = new WeakMap<readonly QueryPair[], KeptCursor>()

interface KeptCursor {
  dataset: Dataset
  version: Version
  position: number
  cursor: string
}

export function geojsonHead(
  page: PageRequest,
  selected: Selected,
  matched: number | null,
  now: Date,
): GeojsonHead {
  const { dataset, base, query } = page
  const next = nextCursor(page, selected)
  const timeStamp = timeText(now)
  return { dataset, base, pairs: query.pairs, next, returned: selected.runs.count, matched, timeStamp }
}

/** Many pages are sent within one millisecond, so the text of the current one is cached. */
export function timeText(now: Date): string {
  const milliseconds = now.getTime()
  if (milliseconds !== lastTime.milliseconds) lastTime = { milliseconds, text: now.toISOString() }
  return lastTime.text
}

let lastTime = { milliseconds: Number.NaN, text: '' }
