import { randomUUID } from 'node:crypto'
import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import { parseFeature, type TimedWork } from '@wayleave/query'
import type { Grant } from '../../accounts/access/grant.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { notFound } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { matchesEtag } from '../../http/headers.ts'
import {
  type DataResponse,
  type DataRoute,
  emptyResponse,
  HEAD_ROOM,
  responseOf,
} from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
import { itemHtml } from '../html/features.ts'
import { type Crs, isPackCrs, storageCrs } from '../request/crs-list.ts'
import { geojson, html, ITEM_ENCODINGS, json, negotiate } from '../request/encodings.ts'
import { parameterOf, type QueryPair, readQuery, refuseUnknown } from '../request/query-string.ts'
import { jsonFgItem } from '../write/json-fg-page.ts'
import { type Link, ROOT, selfAndAlternates } from '../write/links.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { documentHeaderLines } from '../write/respond.ts'
import { rewriteFeatures } from '../write/rewrite-features.ts'
import { admit } from './admit.ts'
import { countedGrant } from './daily-features.ts'
import { contentTag, type ItemsDeps } from './items-page.ts'

const BEFORE_TABLE = `${ROOT}/collections/`
const BEFORE_ID = '/items/'
const NO_PIECES: readonly Buffer[] = []
/** The bytes that a UTF-16 code unit takes in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3
/** Ids that are the same when they are encoded for a URL. */
const PLAIN_ID = /^[\w.-]+$/

/**
 * The route of single features. A wildcard, because an id may contain slashes and have any length. See
 * docs/decisions/two-transports.md.
 */
export function itemRoute(deps: ItemsDeps): DataRoute {
  const parameters = ['f', 'crs']
  return {
    pattern: `${BEFORE_TABLE}:table${BEFORE_ID}*`,
    match: matchItem,
    respond: (exchange, { table, '*': id }) =>
      andThen(admit(exchange, table!, deps), ({ grant, dataset }) => {
        const pairs = readQuery(exchange.url)
        refuseUnknown(pairs, parameters)
        const encoding = negotiate(ITEM_ENCODINGS, parameterOf(pairs, 'f'), exchange.request.headers.accept)
        const named = parameterOf(pairs, 'crs')
        const base = deps.baseUrl.of(exchange.caller)
        const itemOf = (current: Dataset): ItemRequest => {
          const { manifest } = current
          const crs = named === undefined ? storageCrs(manifest) : deps.crsList.named('crs', named, manifest)
          return { dataset: current, id: id!, pairs, encoding, crs, base }
        }
        return andThen(findItem(dataset, itemOf, deps), ({ item, position }) =>
          andThen(deps.dailyFeatures.take(countedGrant(grant, dataset), 1), () => {
            deps.meter.record(grant, { operation: 'item', table: dataset.table, format: encoding.name })
            return itemResponse(exchange, grant, item, position, deps)
          }),
        )
      }),
  }
}

/** A URL whose table and id need no decoding. */
function matchItem(url: string): { table: string; '*': string } | null {
  if (!url.startsWith(BEFORE_TABLE)) return null
  const tableEnd = url.indexOf('/', BEFORE_TABLE.length)
  if (tableEnd === -1 || !url.startsWith(BEFORE_ID, tableEnd)) return null
  const mark = url.indexOf('?', tableEnd)
  const id = url.slice(tableEnd + BEFORE_ID.length, mark === -1 ? undefined : mark)
  const table = url.slice(BEFORE_TABLE.length, tableEnd)
  return id === '' || id.includes('%') || table.includes('%') ? null : { table, '*': id }
}

interface ItemRequest {
  dataset: Dataset
  id: string
  pairs: readonly QueryPair[]
  encoding: (typeof ITEM_ENCODINGS)[number]
  crs: Crs
  base: string
}

interface FoundItem {
  item: ItemRequest
  position: number
}

/** The feature in the current version; synchronous if what has to be compared is in memory. Throws 404. */
function findItem(
  dataset: Dataset,
  itemOf: (current: Dataset) => ItemRequest,
  { catalog, snapshots }: ItemsDeps,
): MaybePromise<FoundItem> {
  const item = itemOf(dataset)
  const { id } = item
  const inMemory = snapshots.peek(dataset.snapshot)?.findByIdInMemory(id)
  if (typeof inMemory === 'number') return requireFound({ item, position: inMemory })
  return catalog
    .withCurrent(dataset, async (current) => ({
      item: current === dataset ? item : itemOf(current),
      position: await snapshots.use(current, (snapshot) => snapshot.findById(id)),
    }))
    .then(requireFound)
}

function requireFound(found: FoundItem): FoundItem {
  const { dataset, id } = found.item
  if (found.position === -1)
    throw notFound(`feature "${id.slice(0, 80)}" in the collection "${dataset.table}"`)
  return found
}

function itemResponse(
  exchange: Exchange,
  grant: Grant,
  item: ItemRequest,
  position: number,
  deps: ItemsDeps,
): MaybePromise<DataResponse> {
  const { snapshots, workload } = deps
  const { dataset, encoding, crs, base } = item
  // With the URL, which has the id and the CRS, this determines the content.
  const tag = `W/"${contentTag(dataset, dataset, base)}.f${ITEM_ENCODINGS.indexOf(encoding)}"`
  const { commonLines, bodyLines } = documentHeaderLines(encoding, tag, grant)
  exchange.addHeaderLines(commonLines)
  exchange.setHeader('content-crs', crs.header)
  if (matchesEtag(exchange.request.headers['if-none-match'], tag)) return emptyResponse(304)
  const isPlain = encoding === geojson && isPackCrs(crs)
  const snapshot = isPlain ? snapshots.peek(dataset.snapshot) : null
  const inMemory = snapshot && plainItemInMemory(snapshot, item, position)
  if (inMemory) {
    exchange.addHeaderLines(bodyLines)
    return inMemory
  }
  const work = workload.begin(grant.owner)
  return readItem(item, position, work, deps).then((text) => {
    exchange.addHeaderLines(bodyLines)
    return responseOf(200, Buffer.from(text))
  })
}

/** The feature as it is in the pack, with its links; null if it has to be read. */
function plainItemInMemory(snapshot: Snapshot, item: ItemRequest, position: number): DataResponse | null {
  const links = linksText(item)
  const length = snapshot.bytesInMemory(runOf(position))
  if (Number.isNaN(length)) return null
  const { buffer, sizeClass } = takeBuffer(HEAD_ROOM + length + links.length * MAX_BYTES_PER_CHARACTER)
  const copied = snapshot.copyRuns(runOf(position), buffer, HEAD_ROOM)
  const release = () => releaseBuffer(sizeClass, buffer)
  if (copied === -1) {
    release()
    return null
  }
  // The links come before the brace that ends the feature.
  const end = copied - 1 + buffer.write(links, copied - 1, 'utf8')
  return { status: 200, text: '', bytes: buffer, start: HEAD_ROOM, end, pieces: NO_PIECES, release }
}

/** Reused: the runs are read before anything else runs. */
const scratchRun = new PositionRuns()

function runOf(position: number): PositionRuns {
  scratchRun.clear()
  scratchRun.add(position, position + 1)
  return scratchRun
}

async function readItem(
  item: ItemRequest,
  position: number,
  work: TimedWork,
  deps: Pick<ItemsDeps, 'snapshots' | 'about'>,
): Promise<string> {
  const { dataset, encoding, crs, base } = item
  const { manifest, table } = dataset
  const feature = await deps.snapshots.use(dataset, (snapshot) => snapshot.readPack(position, position + 1))
  const links = itemLinks(item)
  if (encoding === html) return itemHtml({ base, about: deps.about }, dataset, parseFeature(feature), links)
  if (encoding !== geojson) return jsonFgItem(feature, manifest, crs, table, base, JSON.stringify(links))
  const whole = { bytes: feature, count: 1, starts: Int32Array.of(0), ends: Int32Array.of(feature.length) }
  const { bytes, ends } = await rewriteFeatures(whole, manifest, { crs, shown: null }, work)
  return `${bytes.toString('utf8', 0, ends[0]! - 1)},"links":${JSON.stringify(links)}}\n`
}

/** Stands for the id in the links that are cached. It is random, so that no title contains it. */
const ID = randomUUID()
const linksAroundId = new WeakMap<Dataset, { base: string; parts: string[] }>()

/**
 * The member `links` of a plain feature, the last one, as JSON, with the end of the feature. The links of a dataset's
 * features differ only in the id, which needs no escaping in JSON once it is encoded for a URL, so the text around it
 * is cached.
 */
function linksText(item: ItemRequest): string {
  const { dataset, base, pairs, id } = item
  if (pairs.length > 0) return lastMember(itemLinks(item))
  let cached = linksAroundId.get(dataset)
  if (cached?.base !== base) {
    cached = { base, parts: lastMember(itemLinks({ ...item, id: ID })).split(ID) }
    linksAroundId.set(dataset, cached)
  }
  const { parts } = cached
  const encodedId = PLAIN_ID.test(id) ? id : encodeURIComponent(id)
  let text = parts[0]!
  for (let i = 1; i < parts.length; i++) text += encodedId + parts[i]
  return text
}

function lastMember(links: Link[]): string {
  return `,"links":${JSON.stringify(links)}}\n`
}

function itemLinks({ base, dataset: { table, title }, id, pairs, encoding }: ItemRequest): Link[] {
  const collection = `${base}${ROOT}/collections/${table}`
  const url = `${collection}/items/${encodeURIComponent(id)}`
  return [
    ...selfAndAlternates(url, pairs, ITEM_ENCODINGS, encoding),
    { href: collection, rel: 'collection', type: json.mediaType, title },
  ]
}
