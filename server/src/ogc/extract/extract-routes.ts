import { pipeline, Readable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import type { PositionRuns, Snapshot } from '@wayleave/geodata/features'
import { FairQueue, type FilterPlan, finish, planConditions, TimedWork } from '@wayleave/query'
import type { FastifyReply } from 'fastify'
import { authRequestOf } from '../../accounts/access/authenticate.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { Problem } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import type { Staging } from '../../data/publishing/staging.ts'
import type { App } from '../../http/fastify-app.ts'
import { preferredEncoding } from '../../http/headers.ts'
import { exchangeOf } from '../../http/sockets/fastify-transport.ts'
import { admit, readCharged, tableOf } from '../items/admit.ts'
import { countedOwner } from '../items/daily-features.ts'
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
  staging: Staging
}

/** Files that are sent at once; each holds its selection and one chunk in memory. */
const MAX_EXTRACTS = 16
const MAX_WAIT_MS = 3000
/** How long a slow client may take to receive a file, in ms. */
const MAX_SENDING_MS = 3_600_000
const EXTENSIONS = { csv: 'csv', json: 'geojson', parquet: 'parquet' }

/** The route of files with the rows that match a query, up to a limit. It is free, and metered like items. */
export function extractRoutes(app: App, deps: ExtractDeps): void {
  const queue = new FairQueue({
    capacity: MAX_EXTRACTS,
    share: MAX_EXTRACTS / 2,
    maxWaitMs: MAX_WAIT_MS,
    limit: 'extracts',
  })

  app.get(`${ROOT}/collections/:table/extract`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps)
    const read = (current: Dataset) => {
      const query = readExtractQuery(readQuery(request.url), request.headers.accept, current, deps)
      return { query, plan: query.items.conditions && planConditions(query.items.conditions, current) }
    }
    const first = readCharged(grant, deps, () => read(dataset))
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
      const { snapshot, query, runs } = await deps.catalog.withCurrent(dataset, async (current) => {
        const { query, plan } = current === dataset ? first : read(current)
        const held = await holdSnapshot(deps, current)
        releases.push(held.release)
        // Inside `use`, an error becomes what it means: a damaged version, or one that was removed.
        const select = (snapshot: Snapshot) => selectRows(snapshot, query, plan, selecting, deps)
        return { snapshot: held.snapshot, query, runs: await deps.snapshots.use(current, select) }
      })
      const isPacked = query.encoding !== parquet && acceptsGzip(request.headers['accept-encoding'])
      // Without rows, none of the day's features are used.
      if (request.method === 'HEAD') {
        release()
        setHeaders(reply, grant, dataset, query, runs.count, isPacked)
        return reply.send()
      }
      const returnFeatures = await takeFeatures(countedOwner(grant, dataset), runs.count, deps)
      const body = await bodyOf(snapshot, dataset, runs, query, { selecting, sending }, deps).catch(
        (error: unknown) => {
          returnFeatures()
          throw error
        },
      )
      body.once('close', release)
      setHeaders(reply, grant, dataset, query, runs.count, isPacked)
      return reply.send(isPacked ? gzipped(body) : body)
    } catch (error) {
      release()
      throw error
    }
  })
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
  if (snapshot.bytesOf(runs) > maxBytes)
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
  owner: string | null,
  count: number,
  { dailyFeatures }: ExtractDeps,
): Promise<() => void> {
  if (count === 0) return () => {}
  const allowance = await dailyFeatures.take(owner, count)
  if (allowance.count >= count) return () => dailyFeatures.release(owner, allowance, count)
  dailyFeatures.release(owner, allowance, allowance.count)
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
