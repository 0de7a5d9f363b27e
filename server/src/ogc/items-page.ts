import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import type { OpenSnapshots } from '../catalog/open-snapshots.ts'
import type { Clock } from '../clock.ts'
import type { Authenticate } from '../http/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { Meter } from '../usage/meter.ts'
import { CRS84, type CrsList } from './crs-list.ts'
import { hash64, writeCursor } from './cursor.ts'
import type { DailyFeatures } from './daily-features.ts'
import { geojson, ITEMS_ENCODINGS } from './encodings.ts'
import type { Items, Start } from './items.ts'
import type { ItemsQuery } from './items-query.ts'
import type { GeojsonHead } from './page-head-bytes.ts'
import { weakTag } from './respond.ts'
import { positionAt, type Selected } from './selected.ts'

export interface ItemsParts {
  authenticate: Authenticate
  baseUrl: BaseUrl
  catalog: Catalog
  clock: Clock
  crsList: CrsList
  dailyFeatures: DailyFeatures
  items: Items
  keyInUrl: boolean
  meter: Meter
  snapshots: OpenSnapshots
}

/** What a page of features is asked for, and where it begins. */
export interface PageRequest extends Start {
  dataset: Dataset
  base: string
  query: ItemsQuery
}

/** Whether the page's features are sent as the pack has them. */
export function isPlain({ encoding, crs, shown }: ItemsQuery): boolean {
  return encoding === geojson && crs === CRS84 && shown === null
}

/** `limit` is how many features the page may have: what is asked for, unless the key's day is nearly used up. */
export function pageTag({ version, dataset, base, query }: PageRequest, url: string, limit: number): string {
  return weakTag(
    url,
    versionSeed(version, dataset, base),
    limit * 16 + ITEMS_ENCODINGS.indexOf(query.encoding),
  )
}

/** What of a page's content its address does not tell: the version, and what links and titles are made from. */
function versionSeed(version: Version, dataset: Dataset, base: string): number {
  const known = seeds.get(version)
  if (known && known.base === base && known.updatedAt === dataset.updatedAt) return known.seed
  const { updatedAt } = dataset
  const [seed] = hash64(`${version.snapshot}\n${updatedAt}\n${base}`)
  seeds.set(version, { base, updatedAt, seed })
  return seed
}

const seeds = new WeakMap<Version, { base: string; updatedAt: string; seed: number }>()

/** The cursor of the page after this one; null on the last. */
export function nextCursor(
  { dataset, version, query, after }: PageRequest,
  selected: Selected,
): string | null {
  if (!selected.more) return null
  const position = selected.count === 0 ? after : positionAt(selected, selected.count - 1)
  return writeCursor({ version: version.version, position }, `${dataset.table}\n${query.selection}`)
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
  return { dataset, base, pairs: query.pairs, next, returned: selected.count, matched, timeStamp }
}

/** Many pages are answered in one millisecond; its text is made once. */
export function timeText(now: Date): string {
  const milliseconds = now.getTime()
  if (milliseconds !== lastTime.milliseconds) lastTime = { milliseconds, text: now.toISOString() }
  return lastTime.text
}

let lastTime = { milliseconds: Number.NaN, text: '' }
