import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Clock, DAY, HOUR, MINUTE, SECOND, systemClock } from '../base/clock.ts'
import { withinTime } from '../base/concurrency/within-time.ts'
import { lockDataFolder } from '../base/locks/data-folder-lock.ts'
import { requirePrivateFolder } from '../base/locks/private-files.ts'
import type { Config } from '../base/settings/config.ts'
import { keepDiskReserve, releaseDiskReserve } from '../base/storage/disk-reserve.ts'
import { storeMissingSummaries } from '../data/catalog/store.ts'
import { sweepExports } from '../data/downloads/exports/sweep-exports.ts'
import type { App } from '../http/fastify-app.ts'
import type { RouteTable } from '../http/route-table.ts'
import { ConnectionLimits, maxConnections } from '../http/sockets/connection-limits.ts'
import { descriptorLimit } from '../http/sockets/descriptor-limit.ts'
import { portError, requireFreePort } from '../http/sockets/free-port.ts'
import { senderOf } from '../http/sockets/request-turns.ts'
import { respondInTurn } from '../http/sockets/respond-in-turn.ts'
import { StalledReaders } from '../http/sockets/stalled-readers.ts'
import { sweepTiles } from '../ogc/tiles/tile-files.ts'
import { buildApp } from './app.ts'
import { exposeMetrics } from './expose-metrics.ts'
import type { Opening } from './opening.ts'
import { recordServerAddress } from './server-address.ts'
import { openParts, type Parts } from './wiring.ts'

/** Max memory that stalled clients may hold together. */
const MAX_STALLED_BYTES = 256 * 1024 ** 2

/** How long a stop waits for requests under way. */
const GRACE = 10 * SECOND

/** Max time for work after the last request, such as refunds of aborted downloads. */
const HOOKS_DEADLINE = 5 * SECOND

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
  const opening = requireFreePort(config).then(() =>
    openParts({ config, log, clock, serving: true, ...overrides }),
  )
  const parts = await opening.catch((error: unknown) => {
    unlock()
    throw error
  })
  return serve(parts, { unlock, prepare, grace }).catch(async (error: unknown) => {
    await parts.close().catch(() => {})
    unlock()
    throw error
  })
}

interface Serving {
  unlock: () => void
  prepare: (parts: Parts) => Promise<void>
  grace: number
}

async function serve(parts: Parts, { unlock, prepare, grace }: Serving): Promise<RunningServer> {
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
  const { app, routes } = await buildApp(parts)
  const connections = limitConnections(app, parts)
  respondInTurn(app.server, (request) => senderOf(request, parts.proxies))
  const readers = new StalledReaders(
    app.server,
    { milliseconds: config.readerPatience * SECOND, maxBytes: MAX_STALLED_BYTES },
    (connections) => log.info({ connections }, 'Readers took nothing for too long: cut off.'),
  )
  exposeMetrics(parts, connections, readers)
  if (config.role !== 'api') await describeSandbox(parts)
  await prepare(parts)
  await parts.runner.start()
  await app.listen({ port: config.port, host: config.host }).catch((error) => {
    throw portError(error, config)
  })
  const { address, port } = app.server.address() as AddressInfo
  parts.baseUrl.listening(config.host === 'localhost' ? 'localhost' : address, port)
  // Commands look for a server to talk to, and a worker serves no requests.
  const forgetAddress =
    config.role === 'worker' ? () => {} : recordServerAddress(config.dataDir, parts.baseUrl.bound(), log)

  let stopped: Promise<void> | undefined
  const draining = new AbortController()
  const stop = async (drainMs: number) => {
    parts.overload.drain()
    connections.closeAfterResponses()
    if (drainMs > 0) await sleep(drainMs, undefined, { signal: draining.signal }).catch(() => {})
    // Continue right after a poll phase, in which arrived requests are read and connections are accepted:
    // what arrives on a connection while it is being closed is lost.
    await new Promise(setImmediate)
    // After a drain every response closes its connection, so the requests that still arrive come to an end. They
    // are served, because a load balancer would pass a 503 on to its client.
    if (drainMs === 0) parts.overload.stop()
    const finished = new AbortController()
    // A connection whose last response is sent after this would otherwise be kept alive.
    const idle = setInterval(() => app.server.closeIdleConnections(), 50)
    const closed = app.close().finally(() => {
      clearInterval(idle)
      finished.abort()
    })
    const late = sleep(grace, undefined, { signal: finished.signal }).then(
      () => {
        log.warn('Requests still running after the grace period are cut off.')
        app.server.closeAllConnections()
      },
      () => {},
    )
    await withinTime(grace + HOOKS_DEADLINE, Promise.all([closed, late])).catch((error: unknown) =>
      log.error({ err: error }, 'Stopping: requests under way did not end in time.'),
    )
    readers.stop()
    forgetAddress()
    await parts.close().finally(unlock)
  }
  return {
    app,
    routes,
    parts,
    url: parts.baseUrl.bound(),
    stop: (drainMs = 0) => {
      if (stopped) draining.abort()
      stopped ??= stop(drainMs)
      return stopped
    },
  }
}

function limitConnections({ server }: App, { config, log, proxies, baseUrl }: Parts): ConnectionLimits {
  const max = maxConnections(config, descriptorLimit())
  if (config.maxConnections !== null && max.total < config.maxConnections) {
    log.warn(
      `The limit of open files has room for ${max.total} connections, fewer than WAYLEAVE_MAX_CONNECTIONS (${config.maxConnections}) allows. Raise it (ulimit -n).`,
    )
  }
  const limits = new ConnectionLimits(max, proxies, log, {
    baseUrl: () => baseUrl.settled(),
    contactUrl: null,
  })
  limits.guard(server)
  return limits
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
