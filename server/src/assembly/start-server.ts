import type { Logger } from 'pino'
import { type Clock, DAY, HOUR, MINUTE, SECOND, systemClock } from '../base/clock.ts'
import { lockDataFolder } from '../base/locks/data-folder-lock.ts'
import { requirePrivateFolder } from '../base/locks/private-files.ts'
import type { Config } from '../base/settings/config.ts'
import { keepDiskReserve, releaseDiskReserve } from '../base/storage/disk-reserve.ts'
import { LoadRegistry, registryLink, ThreadLoads } from '../base/threads/load-registry.ts'
import { firstThread, servingThreads } from '../base/threads/thread-place.ts'
import { storeMissingSummaries } from '../data/catalog/store.ts'
import { sweepExports } from '../data/downloads/exports/sweep-exports.ts'
import type { App } from '../http/fastify-app.ts'
import type { RouteTable } from '../http/route-table.ts'
import { requireFreePort } from '../http/sockets/free-port.ts'
import { sweepTiles } from '../ogc/tiles/tile-files.ts'
import { type HttpServer, openHttpServer } from './open-http-server.ts'
import type { Opening } from './opening.ts'
import { recordServerAddress } from './server-address.ts'
import { ServingThreads } from './threads/serving-threads.ts'
import { openParts, type Parts } from './wiring.ts'

/** How long a stop waits for requests under way. */
const GRACE = 10 * SECOND

/** See docs/decisions/drain-before-stop.md. */
export interface RunningServer {
  app: App
  routes: RouteTable
  parts: Parts
  /** The address it listens on, such as `http://127.0.0.1:8080`. */
  url: string
  /**
   * Stops accepting work, finishes what is running, flushes, closes. Before that it drains for `drainMs`
   * milliseconds: requests are still served, `/ready` responds 503, and every response closes its connection.
   * Idempotent; a second call ends the drain.
   */
  stop(drainMs?: number): Promise<void>
}

/** Starts a server on a port: opens the parts, builds the app, and provides a graceful stop. */
export async function startServer(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  prepare: (parts: Parts) => Promise<void> = async () => {},
  grace: number = GRACE,
  overrides: Pick<Opening, 'work' | 'redisReplyMs'> = {},
): Promise<RunningServer> {
  requirePrivateFolder(config)
  if (releaseDiskReserve(config.dataDir))
    log.warn(`The disk of ${config.dataDir} is full. What needs no space is served. Make room soon.`)
  // On PostgreSQL several nodes may share one folder; SQLite allows only one server.
  const unlock = config.databaseUrl ? () => {} : lockDataFolder(config.dataDir)
  // Checked before anything is published or migrated.
  const thread = firstThread(servingThreads(config))
  const loads = thread ? new LoadRegistry() : null
  const ownLoads = loads ? new ThreadLoads(registryLink(loads, 1)) : undefined
  const opening = requireFreePort(config).then(() =>
    openParts({ config, log, clock, serving: true, thread, loads: ownLoads, ...overrides }),
  )
  const parts = await opening.catch((error: unknown) => {
    unlock()
    throw error
  })
  return serve(parts, { unlock, prepare, grace, loads }).catch(async (error: unknown) => {
    await parts.close().catch(() => {})
    unlock()
    throw error
  })
}

interface Serving {
  unlock: () => void
  prepare: (parts: Parts) => Promise<void>
  grace: number
  /** Null if one thread serves. */
  loads: LoadRegistry | null
}

async function serve(parts: Parts, { unlock, prepare, grace, loads }: Serving): Promise<RunningServer> {
  const { config, log, thread } = parts
  await scheduleNodeWork(parts)
  // Tried out in another process while the routes are registered.
  const sandboxDescribed = config.role === 'api' ? null : describeSandbox(parts)
  const http = await openHttpServer(parts, grace)
  await sandboxDescribed
  await prepare(parts)
  await parts.runner.start()
  const port = await http.listen(config.port)
  const threads =
    thread && loads ? await startThreads({ parts, place: thread, port, grace, loads }, http) : null
  parts.metrics.read('wayleave_threads', () => threads?.serving ?? 1)
  // Commands look for a server to talk to, and a worker serves no requests.
  const forgetAddress =
    config.role === 'worker' ? () => {} : recordServerAddress(config.dataDir, parts.baseUrl.bound(), log)

  let closed: Promise<void> | undefined
  const stop = async (drainMs: number) => {
    const stopped = Promise.all([http.stop(drainMs), threads?.stop(drainMs)])
    // The jobs and the database of this thread are there until the other threads have closed their parts.
    closed ??= stopped.then(async () => {
      forgetAddress()
      await threads?.ended()
      await parts.close().finally(unlock)
    })
    return closed
  }
  const { app, routes } = http
  return { app, routes, parts, url: parts.baseUrl.bound(), stop: (drainMs = 0) => stop(drainMs) }
}

/** If they do not start, nothing is served. */
async function startThreads(
  deps: Parameters<typeof ServingThreads.start>[0],
  http: HttpServer,
): Promise<ServingThreads> {
  return ServingThreads.start(deps).catch(async (error: unknown) => {
    await http.stop(0)
    throw error
  })
}

/** What a process does beside serving, in its first thread. */
async function scheduleNodeWork(parts: Parts): Promise<void> {
  const { config, log } = parts
  // The trash is emptied by the same clock as all other deletions.
  const collectGarbage = async () => parts.garbage.collectAndLog(await parts.housekeepingClock.now())
  // A bucket is listed in the background: that takes a request for every thousand snapshots.
  if (parts.blobs.isLocal) await collectGarbage()
  parts.housekeeping.add('snapshots that no version names', HOUR, collectGarbage)
  parts.housekeeping.add('the reserve of the disk', HOUR, () => keepDiskReserve(config.dataDir))
  parts.storage.bucket?.warmUp()
  const { cache } = parts.storage
  if (cache) parts.housekeeping.add('the cache', 10 * MINUTE, () => cache.collect())
  if (config.tiles) {
    const buildTiles = () => parts.tileBuilds.sweep()
    parts.housekeeping.add('tiles of new versions', MINUTE, buildTiles)
    // Right after a version has become visible, whichever process published it.
    parts.changes.listen((subject) => {
      if (subject === 'dataset')
        setTimeout(() => parts.housekeeping.runSoon('tiles of new versions', buildTiles), 10).unref()
    })
  }
  if (config.role !== 'api')
    parts.housekeeping.add('sources that are due', 10 * SECOND, () => parts.sources.sweep())
  const compareVersions = () => parts.changeCounts.sweep()
  parts.housekeeping.add('changes of new versions', MINUTE, compareVersions)
  parts.changes.listen((subject) => {
    if (subject === 'dataset')
      setTimeout(() => parts.housekeeping.runSoon('changes of new versions', compareVersions), 10).unref()
  })
  parts.housekeeping.add('unfinished exports and tiles', 10 * MINUTE, () => sweepUnfinished(parts))
  // Not awaited: a dataset is also checked before its first use.
  parts.housekeeping.add('sizes of published files', DAY, () => parts.catalog.checkFiles())
  parts.housekeeping.add('summaries of versions', HOUR, async () => {
    await storeMissingSummaries(parts.database.db)
  })
  // Repeated every minute: neither an unreachable bucket nor a full disk keeps a node from serving what it has.
  await parts.jobs
    .sweep({ isStart: true })
    .catch((error: unknown) => log.warn({ err: error }, 'Abandoned uploads could not be looked for.'))
  parts.housekeeping.add('abandoned uploads', MINUTE, () => parts.jobs.sweep())
}

/** Says what protects the machine from files of others. */
async function describeSandbox({ sandbox, log }: Parts): Promise<void> {
  const { layers, missing, isClosed } = await sandbox.state()
  if (isClosed) log.info(`Published files are read in a sandbox: ${layers.join(', ')}.`)
  else
    log.warn(
      `Published files are read without a closed sandbox: ${missing[0]} A defect in a reader could expose what the service can read.${layers.length > 0 ? ` Active: ${layers.join(', ')}.` : ''}`,
    )
}

async function sweepUnfinished({ blobs }: Parts): Promise<void> {
  // What is unfinished in a cache is removed with everything that was not used for long.
  if (!blobs.isLocal) return
  for (const snapshot of await blobs.list()) {
    const folder = await blobs.localFolder(snapshot)
    await sweepExports(folder)
    await sweepTiles(folder)
  }
}
