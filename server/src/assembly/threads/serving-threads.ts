import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { SECOND } from '../../base/clock.ts'
import {
  NodeLinkHost,
  type NodeQuestion,
  type NodeRelease,
} from '../../base/database/changes/remote-node-link.ts'
import { SqliteHost, type SqliteQuestion } from '../../base/database/sqlite/remote-sqlite.ts'
import type { Config } from '../../base/settings/config.ts'
import { type LoadRegistry, registryLink } from '../../base/threads/load-registry.ts'
import { ThreadLink } from '../../base/threads/thread-link.ts'
import type { ThreadPlace } from '../../base/threads/thread-place.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import { writeLines } from '../../http/observability/logger.ts'
import type { ThreadMetrics } from '../../http/observability/metrics.ts'
import { SharedConnections } from '../../http/sockets/shared-connections.ts'
import type { Parts } from '../wiring.ts'

const FIRST_DELAY = SECOND / 10
const MAX_DELAY = 10 * SECOND
/**
 * A flag for threads that are started after it is set; server/bin/wayleave.js gives the main thread four times as much. A
 * thread keeps up to twice this size for short-lived objects, in use or not.
 */
const SEMI_SPACE = '--max-semi-space-size=8'
/** A thread that served for this long is replaced without a delay when it dies. */
const STABLE = 60 * SECOND

/** What a serving thread is started with. */
export interface ThreadStart {
  config: Config
  place: ThreadPlace
  port: number
  /** How long a stop waits for requests under way, in milliseconds. */
  grace: number
}

interface ServingThreadsDeps extends Omit<ThreadStart, 'config'> {
  parts: Parts
  loads: LoadRegistry
}

interface RunningThread {
  worker: Worker
  link: ThreadLink
  /** Resolves when the thread has ended. */
  ended: Promise<void>
}

/**
 * The serving threads beside the main one. Each opens the parts of the service for itself, as an API node does, and
 * listens on the same port. One that dies is replaced; only its connections are lost.
 *
 * See docs/decisions/serving-threads.md.
 */
export class ServingThreads {
  readonly #parts: Parts
  readonly #start: Omit<ThreadStart, 'place'>
  readonly #place: ThreadPlace
  readonly #loads: LoadRegistry
  /** By the number of the place, those that serve. */
  readonly #running = new Map<number, RunningThread>()
  #stopping: Promise<void> | null = null
  #drainMs = 0

  private constructor({ parts, place, port, grace, loads }: ServingThreadsDeps) {
    this.#parts = parts
    this.#place = place
    this.#loads = loads
    this.#start = { config: parts.config, port, grace }
    parts.metrics.others = () => this.#metrics()
  }

  /** Resolves when all threads listen. */
  static async start(deps: ServingThreadsDeps): Promise<ServingThreads> {
    const { parts, place } = deps
    setFlagsFromString(SEMI_SPACE)
    const threads = new ServingThreads(deps)
    const numbers = Array.from({ length: place.count - 1 }, (_, i) => i + 2)
    try {
      await Promise.all(numbers.map((number) => threads.#keepServing(number)))
    } catch (error) {
      await threads.stop(0)
      await threads.ended()
      throw error
    }
    parts.log.info(`${place.count} threads serve.`)
    return threads
  }

  /** How many threads serve now, the main one included. */
  get serving(): number {
    return this.#running.size + 1
  }

  /** Stops all threads, after a drain; a second call ends the drain. Resolves when no thread has a request any more. */
  async stop(drainMs: number): Promise<void> {
    this.#drainMs = drainMs
    const stops = Array.from(this.#running.values(), ({ link }) => link.ask('stop', drainMs).catch(() => {}))
    this.#stopping ??= Promise.all(stops).then(() => {})
    return this.#stopping
  }

  /** Resolves when all threads have closed their parts and ended, after `stop`. */
  async ended(): Promise<void> {
    await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended))
  }

  /** Starts a thread in this place, and another one whenever it dies. Rejects if the first does not start. */
  async #keepServing(number: number): Promise<void> {
    const thread = await this.#startThread(number)
    void this.#replace(number, thread, performance.now(), FIRST_DELAY)
  }

  async #replace(number: number, thread: RunningThread, began: number, delay: number): Promise<void> {
    await thread.ended
    if (this.#stopping) return
    const { log } = this.#parts
    const wait = performance.now() - began > STABLE ? FIRST_DELAY : delay
    for (let pause = wait; !this.#stopping; pause = Math.min(pause * 2, MAX_DELAY)) {
      await sleep(pause, undefined, { ref: false })
      if (this.#stopping) return
      try {
        const next = await this.#startThread(number)
        log.info(`Thread ${number} serves again.`)
        if (this.#stopping) await next.link.ask('stop', this.#drainMs).catch(() => {})
        void this.#replace(number, next, performance.now(), Math.min(pause * 2, MAX_DELAY))
        return
      } catch (error) {
        log.error({ err: error }, `Thread ${number} could not be started.`)
      }
    }
  }

  async #startThread(number: number): Promise<RunningThread> {
    const { log, metrics, verification, database, sharedLink } = this.#parts
    const place: ThreadPlace = { ...this.#place, number }
    const start: ThreadStart = { ...this.#start, place }
    const worker = new Worker(new URL('./serving-thread.ts', import.meta.url), {
      workerData: start,
      name: `serving ${number}`,
    })
    const loads = registryLink(this.#loads, number)
    const host = database.sqlite && new SqliteHost(database.sqlite)
    const nodeHost = sharedLink && new NodeLinkHost(sharedLink, (event) => link.tell('nodeEvent', event))
    const link = new ThreadLink(worker, {
      log: (lines: Uint8Array) => writeLines(log, lines),
      metrics: () => metrics.text(),
      responses: () => metrics.responses(),
      verify: (version: Version) => verification.verify(version),
      load: (key: string) => loads.ask(key),
      loaded: ({ key, value }: { key: string; value: object | null }) => loads.loaded(key, value),
      release: (key: string) => loads.release(key),
      sqlite: (question: SqliteQuestion) => host!.answer(question),
      sqliteRelease: (session: number) => host!.release(session),
      node: (question: NodeQuestion) => nodeHost!.answer(question),
      nodeRelease: (session: NodeRelease) => nodeHost!.release(session),
      nodeUnlisten: (listener: number) => nodeHost!.unlisten(listener),
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.on('error', (error) => log.error({ err: error }, `Thread ${number} failed.`))
    worker.once('exit', (code) => {
      link.close(new Error(`Thread ${number} ended with code ${code}.`))
      SharedConnections.forget(place)
      this.#loads.forget(number)
      void host?.close()
      nodeHost?.close()
      if (this.#running.delete(number) && !this.#stopping)
        log.error({ code }, `Thread ${number} ended. Its connections are lost, and it is replaced.`)
      resolve()
    })
    try {
      await link.ask('listen')
    } catch (error) {
      await worker.terminate()
      throw error
    }
    const thread = { worker, link, ended }
    this.#running.set(number, thread)
    return thread
  }

  /** A thread that ends meanwhile is left out. */
  async #metrics(): Promise<ThreadMetrics[]> {
    const asked = Array.from(this.#running.values(), ({ link }) =>
      link.ask<ThreadMetrics>('metrics').catch(() => null),
    )
    return (await Promise.all(asked)).filter((metrics) => metrics !== null)
  }
}
