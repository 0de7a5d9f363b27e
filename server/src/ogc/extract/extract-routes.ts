import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import type { ExtractPrice } from '@wayleave/contract/extract-prices'
import type { PositionRuns, Snapshot } from '@wayleave/geodata/features'
import { FairQueue, type FilterPlan, finish, planInSteps, TimedWork } from '@wayleave/query'
import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { authRequestOf } from '../../accounts/access/authenticate.ts'
import { priceFor } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Bill, Cashier, Charge } from '../../accounts/credits/cashier.ts'
import { maxCreditsOf } from '../../accounts/credits/max-credits.ts'
import { EXTRACT_ITEM } from '../../accounts/credits/purchase-store.ts'
import { Problem } from '../../base/problem.ts'
import type { Config } from '../../base/settings/config.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import type { Staging } from '../../data/publishing/staging.ts'
import type { App } from '../../http/fastify-app.ts'
import { preferredEncoding } from '../../http/headers.ts'
import { exchangeOf } from '../../http/sockets/fastify-transport.ts'
import { admit, readInSteps, tableOf } from '../items/admit.ts'
import { type CountedGrant, countedGrant } from '../items/daily-features.ts'
import type { ItemsDeps } from '../items/items-page.ts'
import { csv, geojson, parquet } from '../request/encodings.ts'
import { readQuery } from '../request/query-string.ts'
import { ROOT } from '../write/links.ts'
import { cacheControlFor, VARY } from '../write/respond.ts'
import { parquetFile } from './extract-parquet.ts'
import { type ExtractQuery, readExtractQuery } from './extract-query.ts'
import { csvChunks, geojsonChunks } from './extract-text.ts'

export interface ExtractLimits {
  maxRows: number
  /** Max bytes of the features as they are in the pack. */
  maxBytes: number
}

export interface ExtractDeps extends ItemsDeps {
  extractLimits: ExtractLimits
  cashier: Pick<Cashier, 'charge' | 'quote' | 'watch'>
  config: Pick<Config, 'extractPrice'>
  log: Logger
  staging: Staging
}

/** Files that are sent at once; each holds its selection and one chunk in memory. */
const MAX_EXTRACTS = 16
const MAX_WAIT_MS = 3000
/** How long a slow client may take to receive a file, in ms. */
const MAX_SENDING_MS = 3_600_000
const EXTENSIONS = { csv: 'csv', json: 'geojson', parquet: 'parquet' }

/** The route of files with the rows that match a query, up to a limit. They cost what `extractPriceOf` says. */
export function extractRoutes(app: App, deps: ExtractDeps): void {
  const queue = new FairQueue({
    capacity: MAX_EXTRACTS,
    share: MAX_EXTRACTS / 2,
    maxWaitMs: MAX_WAIT_MS,
    limit: 'extracts',
  })

  app.get(`${ROOT}/collections/:table/extract`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps)
    const steps = function* (current: Dataset) {
      const query = readExtractQuery(readQuery(request.url), request.headers.accept, current, deps)
      yield
      const { conditions } = query.items
      return { query, plan: conditions && (yield* planInSteps(conditions, current)) }
    }
    const read = (current: Dataset) => readInSteps(grant, deps, steps(current))
    const first = await read(dataset)
    deps.meter.record(grant, {
      operation: 'extract',
      table: dataset.table,
      format: first.query.encoding.name,
    })
    const exchange = exchangeOf(request, reply)
    const disconnected = () => exchange.disconnected()
    const selecting = deps.workload.begin(grant.owner, disconnected)
    const sending = new TimedWork({ owner: grant.owner, disconnected, maxMs: MAX_SENDING_MS })
    const releases: (() => void)[] = [() => selecting.end(), () => sending.end()]
    const release = () => {
      for (const each of releases.splice(0)) each()
    }
    try {
      const slot = await queue.acquire(grant.owner, 1, selecting.signal)
      releases.push(() => slot.release())
      const { current, snapshot, query, runs } = await deps.catalog.withCurrent(dataset, async (current) => {
        const { query, plan } = current === dataset ? first : await read(current)
        const held = await holdSnapshot(deps, current)
        releases.push(held.release)
        // Inside `use`, an error becomes what it means: a damaged version, or one that was removed.
        const select = (snapshot: Snapshot) => selectRows(snapshot, query, plan, selecting, deps)
        return { current, snapshot: held.snapshot, query, runs: await deps.snapshots.use(current, select) }
      })
      const isPacked = query.encoding !== parquet && acceptsGzip(request.headers['accept-encoding'])
      // Without rows, none of the day's features are used.
      const bill: Bill = {
        ...extractBill(grant, current, query, runs.count, request.url, deps),
        maxPrice: maxCreditsOf(request.headers),
      }
      if (request.method === 'HEAD') {
        const price = await deps.cashier.quote(bill)
        release()
        setHeaders(reply, grant, dataset, query, runs.count, isPacked)
        return reply.header('wayleave-credits', String(price)).send()
      }
      const returnFeatures = await takeFeatures(countedGrant(grant, dataset), runs.count, deps)
      const make = () => bodyOf(snapshot, dataset, runs, query, { selecting, sending }, deps)
      const { body, charge } = await chargedBody(bill, make, deps).catch((error: unknown) => {
        returnFeatures()
        throw error
      })
      refundIfBroken(body, charge, { disconnected, sending }, deps)
      body.once('close', release)
      setHeaders(reply, grant, dataset, query, runs.count, isPacked)
      setChargeHeaders(reply, charge)
      return reply.send(isPacked ? gzipped(body) : body)
    } catch (error) {
      release()
      throw error
    }
  })
}

/** What a file of so many rows costs, given the price of a download: `share` is rounded up. */
export function extractPriceOf(price: number, rule: ExtractPrice, count: number, rows: number): number {
  if (rule === 'free' || count === 0 || price === 0) return 0
  if (rule === 'whole') return price
  const product = price * count
  const rest = product % rows
  return (product - rest) / rows + (rest > 0 ? 1 : 0)
}

/** Who has paid for the version or for the same file in the last 24 hours pays nothing. */
function extractBill(
  grant: Grant,
  dataset: Dataset,
  { encoding }: ExtractQuery,
  count: number,
  url: string,
  { config, clock }: ExtractDeps,
): Bill {
  const rule = dataset.extractPrice ?? config.extractPrice
  const query = url.slice(url.indexOf('?') + 1)
  const hash = createHash('sha256').update(`${encoding.name} ${query}`).digest('base64url')
  return {
    grant,
    call: { operation: 'extract', table: dataset.table, format: encoding.name },
    version: dataset.version,
    price: extractPriceOf(priceFor(grant, dataset, clock), rule, count, dataset.manifest.rows),
    item: `${EXTRACT_ITEM}${hash}`,
    isPartOfVersion: true,
    isMetered: true,
  }
}

/** Charged before the file is made; a file that cannot be made is refunded. */
function chargedBody(bill: Bill, make: () => Promise<Readable>, { cashier }: ExtractDeps) {
  const charged = cashier.charge(bill).then(async (charge) => {
    const body = await make().catch(async (error: unknown) => {
      await charge.refund()
      throw error
    })
    return { body, charge }
  })
  return cashier.watch(charged)
}

/**
 * A file that breaks off is refunded, unless the client has disconnected or took too long: otherwise a client would get
 * all but the end of a file for nothing by reading slowly.
 */
export function refundIfBroken(
  body: Readable,
  charge: Pick<Charge, 'charged' | 'refund'>,
  { disconnected, sending }: { disconnected: () => AbortSignal; sending: Pick<TimedWork, 'isLate'> },
  { cashier, log }: Pick<ExtractDeps, 'log'> & { cashier: Pick<Cashier, 'watch'> },
): void {
  if (charge.charged === 0) return
  const ended = new Promise<void>((resolve) => {
    body.once('error', () => {
      if (disconnected().aborted || sending.isLate) return resolve()
      const failed = (error: unknown) => log.error({ err: error }, 'A refund failed.')
      charge.refund().catch(failed).finally(resolve)
    })
    body.once('close', resolve)
  })
  void cashier.watch(ended)
}

function setChargeHeaders(reply: FastifyReply, { charged, remaining }: Charge): void {
  reply.header('wayleave-credits', String(charged)).header('credits-charged', String(charged))
  if (remaining !== null) reply.header('credits-remaining', String(remaining))
}

function acceptsGzip(header: string | undefined): boolean {
  return preferredEncoding(header, ['gzip']) === 'gzip'
}

/** Compressed in a thread, at the level that keeps up with a fast link. */
function gzipped(body: Readable): Readable {
  const packed = createGzip({ level: constants.Z_BEST_SPEED })
  // A failure of either stream ends the other one; sending reports it.
  pipeline(body, packed, () => {})
  return packed
}

/** Keeps the snapshot open until `release` is called, which is after the response has been sent. */
function holdSnapshot(
  { snapshots }: ExtractDeps,
  dataset: Dataset,
): Promise<{ snapshot: Snapshot; release: () => void }> {
  return new Promise((resolve, reject) => {
    const use = (snapshot: Snapshot) => new Promise<void>((release) => resolve({ snapshot, release }))
    snapshots.use(dataset, use).catch(reject)
  })
}

async function selectRows(
  snapshot: Snapshot,
  { items: query }: ExtractQuery,
  plan: FilterPlan | null,
  work: TimedWork,
  { engine, workload, extractLimits: { maxRows, maxBytes } }: ExtractDeps,
): Promise<PositionRuns> {
  const reading = { after: -1, limit: maxRows }
  const select = async () => finish(engine.page(snapshot, query, plan, reading), work)
  const { runs, more } = await workload.search(work, select)
  if (more) throw tooLarge(`More than ${maxRows} rows match`, { maxRows })
  if ((await snapshot.bytesOf(runs)) > maxBytes)
    throw tooLarge(`The rows have more than ${maxBytes} bytes`, { maxBytes })
  return runs
}

function tooLarge(reason: string, members: object): Problem {
  return new Problem(
    'extract-too-large',
    `${reason}, which is the limit of one file. Narrow the filter, page through the items, or download the whole dataset.`,
    { members: { ...members } },
  )
}

/**
 * A file has all its rows or is not sent, so a part of the day's features is not enough. The result returns them,
 * for a file that could not be made.
 */
async function takeFeatures(
  grant: CountedGrant | null,
  count: number,
  { dailyFeatures }: ExtractDeps,
): Promise<() => void> {
  if (count === 0) return () => {}
  const allowance = await dailyFeatures.take(grant, count)
  if (allowance.count >= count) return () => dailyFeatures.release(grant, allowance, count)
  dailyFeatures.release(grant, allowance, allowance.count)
  throw dailyFeatures.problem(
    `The file would have ${count} features, and the keys of its owner may read ${allowance.count} more today (UTC).`,
  )
}

async function bodyOf(
  snapshot: Snapshot,
  { table }: Dataset,
  runs: PositionRuns,
  { encoding, items }: ExtractQuery,
  { selecting, sending }: { selecting: TimedWork; sending: TimedWork },
  deps: ExtractDeps,
): Promise<Readable> {
  if (encoding === parquet) return (await parquetFile(snapshot, table, runs, deps, selecting)).stream
  const chunks =
    encoding === geojson
      ? geojsonChunks(snapshot, runs, sending)
      : csvChunks(snapshot, runs, items, deps.escapeFormulas, sending)
  return Readable.from(chunks, { objectMode: false })
}

function setHeaders(
  reply: FastifyReply,
  grant: Grant,
  { table }: Dataset,
  { encoding }: ExtractQuery,
  count: number,
  isPacked: boolean,
): void {
  reply.header('content-type', encoding === csv ? `${encoding.mediaType}; charset=utf-8` : encoding.mediaType)
  reply.header('content-disposition', `attachment; filename="${table}.${EXTENSIONS[encoding.name]}"`)
  reply.header('vary', VARY).header('cache-control', cacheControlFor(grant))
  reply.header('ogc-numberreturned', String(count)).header('ogc-numbermatched', String(count))
  if (isPacked) reply.header('content-encoding', 'gzip')
}
