import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from '../base/clock.ts'
import { withinTime } from '../base/concurrency/within-time.ts'
import { isFirst } from '../base/threads/thread-place.ts'
import type { App } from '../http/fastify-app.ts'
import type { RouteTable } from '../http/route-table.ts'
import { ConnectionLimits, maxConnections } from '../http/sockets/connection-limits.ts'
import { descriptorLimit } from '../http/sockets/descriptor-limit.ts'
import { portError } from '../http/sockets/free-port.ts'
import { senderOf } from '../http/sockets/request-turns.ts'
import { respondInTurn } from '../http/sockets/respond-in-turn.ts'
import { SharedConnections } from '../http/sockets/shared-connections.ts'
import { StalledReaders } from '../http/sockets/stalled-readers.ts'
import { buildApp } from './app.ts'
import { exposeMetrics } from './expose-metrics.ts'
import type { Parts } from './wiring.ts'

/** Max memory that stalled clients may hold together. */
const MAX_STALLED_BYTES = 256 * 1024 ** 2

/** Max time for work after the last request, such as refunds of aborted downloads. */
const HOOKS_DEADLINE = 5 * SECOND

export interface HttpServer {
  app: App
  routes: RouteTable
  /** Begins to accept connections; returns the port. */
  listen(port: number): Promise<number>
  /**
   * Stops accepting work and finishes what is running, after a drain of `drainMs` milliseconds. Idempotent; a second
   * call ends the drain.
   */
  stop(drainMs: number): Promise<void>
}

/**
 * The routes of the service on a port, in one thread. `grace` is how long a stop waits for requests under way, in
 * milliseconds.
 */
export async function openHttpServer(parts: Parts, grace: number): Promise<HttpServer> {
  const { config, log, thread } = parts
  const { app, routes } = await buildApp(parts)
  const connections = limitConnections(app, parts)
  respondInTurn(app.server, (request) => senderOf(request, parts.proxies))
  const maxBytes = MAX_STALLED_BYTES / (thread?.count ?? 1)
  const readers = new StalledReaders(
    app.server,
    { milliseconds: config.readerPatience * SECOND, maxBytes },
    (connections) => log.info({ connections }, 'Readers took nothing for too long: cut off.'),
  )
  exposeMetrics(parts, connections, readers)

  const listen = async (port: number) => {
    // The system spreads connections over all sockets of a port. Fastify passes this on to Node.
    const place = { port, host: config.host, reusePort: thread !== undefined }
    await app.listen(place).catch((error) => {
      throw portError(error, config)
    })
    const bound = app.server.address() as AddressInfo
    parts.baseUrl.listening(config.host === 'localhost' ? 'localhost' : bound.address, bound.port)
    return bound.port
  }

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
    await closeApp(app, parts, grace)
    readers.stop()
  }
  let stopped: Promise<void> | undefined
  return {
    app,
    routes,
    listen,
    stop: (drainMs) => {
      if (stopped) draining.abort()
      stopped ??= stop(drainMs)
      return stopped
    },
  }
}

async function closeApp(app: App, { log }: Parts, grace: number): Promise<void> {
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
}

function limitConnections({ server }: App, parts: Parts): ConnectionLimits {
  const { config, log, proxies, baseUrl, thread } = parts
  const max = maxConnections(config, descriptorLimit())
  if (config.maxConnections !== null && max.total < config.maxConnections && isFirst(thread)) {
    log.warn(
      `The limit of open files has room for ${max.total} connections, fewer than WAYLEAVE_MAX_CONNECTIONS (${config.maxConnections}) allows. Raise it (ulimit -n).`,
    )
  }
  const links = { baseUrl: () => baseUrl.settled(), contactUrl: null }
  const limits = new ConnectionLimits(max, proxies, log, links, thread ? new SharedConnections(thread) : null)
  limits.guard(server)
  return limits
}
