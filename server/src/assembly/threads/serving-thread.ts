/** The entry of a serving thread: see `ServingThreads` and docs/decisions/serving-threads.md. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { isTracingWanted } from '../../base/settings/config.ts'
import { ThreadLoads } from '../../base/threads/load-registry.ts'
import { ThreadLink } from '../../base/threads/thread-link.ts'
import { startTracing } from '../../base/tracing/start-tracing.ts'
import { makeThreadLogger } from '../../http/observability/logger.ts'
import { openHttpServer } from '../open-http-server.ts'
import { openParts } from '../wiring.ts'
import type { ThreadStart } from './serving-threads.ts'

const { config, place, port, grace } = workerData as ThreadStart

const link = new ThreadLink(parentPort!, {
  listen: async () => void (await (await service).http.listen(port)),
  metrics: async () => (await service).parts.metrics.own(),
  stop,
})
const log = makeThreadLogger(config.logLevel, place.number, (lines) => {
  // A copy of the used part, whose memory moves to the other thread.
  const copy = new Uint8Array(lines)
  link.tell('log', copy, [copy.buffer])
})
const service = open()
// The error is that of `listen`, which waits for it.
service.catch(() => {})

async function open() {
  const stopTracing = isTracingWanted() ? await startTracing(log) : async () => {}
  const loads = new ThreadLoads({
    ask: (key) => link.ask('load', key),
    loaded: (key, value) => link.tell('loaded', { key, value }),
    release: (key) => link.tell('release', key),
  })
  const opening = { config, log, clock: systemClock, serving: true, thread: place, loads, first: link }
  const parts = await openParts(opening)
  parts.metrics.collector = {
    text: () => link.ask('metrics'),
    responses: () => link.ask('responses'),
  }
  return { parts, http: await openHttpServer(parts, grace), stopTracing }
}

/** Resolves when the last request has ended. The thread ends when its parts are closed. */
async function stop(drainMs: number): Promise<void> {
  const { http } = await service
  await http.stop(drainMs)
  setImmediate(close)
}

async function close(): Promise<void> {
  const { parts, stopTracing } = await service
  await parts.close().catch((error: unknown) => log.error(`The stop was not complete. ${error}`))
  await stopTracing()
  process.exit(0)
}
