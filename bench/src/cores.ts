import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { OwnSqlite } from '../../server/src/base/database/sqlite/sqlite-source.ts'
import { createNumbers } from '../../server/src/base/threads/shared-numbers.ts'
import { LogWriter } from '../../server/src/http/observability/log-writer.ts'
import { type Bench, decimal, whole } from './bench.ts'
import { median } from './measure/median.ts'
import type { SharedPartsOrder } from './measure/shared-parts-thread.ts'

const THREADS = [1, 8, 16, 32, 64]
/** What a small page takes of the core of its thread. */
const PAGE_MICROSECONDS = 100
const LINE_BYTES = 250
const CHUNK_BYTES = 64 * 1024
const CHUNKS = 400
const TAKES = 200_000
const COMMITS = 30
/** Each thread writes its usage twice a second. */
const COMMITS_A_SECOND = 2
/** A thread of the built program at rest, and its connections to PostgreSQL: see docs/decisions/serving-threads.md. */
const THREAD_MEGABYTES = 90
const OTHER_CONNECTIONS = 2
const FIRST_CONNECTIONS = 11

/** Serving threads up to 64 cores: a model with the times, measured here, of what all of them share. */
export const bench: Bench = async (print) => {
  const take = await measureTake()
  const line = await measureLine()
  const commit = await measureCommit()
  print(
    `Measured: a check of a limit that two threads use all the time ${decimal(take)} µs; the main thread, for a log line of another thread ${decimal(line)} µs; a commit of SQLite ${decimal(commit)} ms. A page takes ${PAGE_MICROSECONDS} µs of a core. All requests have one key.\n`,
  )
  print(
    '| threads | requests a second | of so many single threads | the lock of one key | the main thread, log of others | SQLite, usage | log, MB a second | PostgreSQL, connections | memory of the threads, GB |',
  )
  print('|--:|--:|--:|--:|--:|--:|--:|--:|--:|')
  const alone = requestsPerSecond(1, [take])
  for (const threads of THREADS) {
    const lines = threads === 1 ? [] : [line * (1 - 1 / threads)]
    const rate = requestsPerSecond(threads, [take, ...lines])
    const share = (microseconds: number) => `${whole((rate * microseconds) / 1e4)} %`
    const cells = [
      threads,
      whole(rate),
      decimal(rate / (alone * threads)),
      share(take),
      share(lines[0] ?? 0),
      `${whole((threads * COMMITS_A_SECOND * commit) / 10)} %`,
      whole((rate * LINE_BYTES) / 1e6),
      threads === 1 ? 13 : FIRST_CONNECTIONS + OTHER_CONNECTIONS * (threads - 1),
      decimal((threads * THREAD_MEGABYTES) / 1000, 1),
    ]
    print(`| ${cells.join(' | ')} |`)
  }
}

/**
 * Mean value analysis of a closed network: each thread works on its own core, then needs each of the parts, which
 * serve one thread at a time, for so many microseconds.
 */
function requestsPerSecond(threads: number, partMicroseconds: number[]): number {
  const waiting = partMicroseconds.map(() => 0)
  let rate = 0
  for (let count = 1; count <= threads; count++) {
    const times = partMicroseconds.map((time, i) => time * (1 + waiting[i]!))
    rate = count / (PAGE_MICROSECONDS + times.reduce((sum, time) => sum + time, 0))
    for (const [i, time] of times.entries()) waiting[i] = rate * time
  }
  return rate * 1e6
}

function startThread(order: Partial<SharedPartsOrder>, onLines: (lines: Uint8Array) => void) {
  const workerData = { buckets: createNumbers(64), takes: 0, chunks: 0, chunkBytes: CHUNK_BYTES, ...order }
  const worker = new Worker(new URL('./measure/shared-parts-thread.ts', import.meta.url), { workerData })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  worker.on('error', reject)
  worker.on('message', (message: Uint8Array | number) => {
    if (typeof message === 'number') resolve(message)
    else onLines(message)
  })
  return promise
}

/** The processor time of a check, of two threads that take from one bucket at the same time, in microseconds. */
async function measureTake(): Promise<number> {
  const order = { buckets: createNumbers(64), takes: TAKES }
  const times = await Promise.all([startThread(order, () => {}), startThread(order, () => {})])
  return Math.max(...times) / TAKES
}

/** The processor time of the main thread for a line that another thread gathered, in microseconds. */
async function measureLine(): Promise<number> {
  const writer = new LogWriter(openSync('/dev/null', 'a'))
  const began = process.threadCpuUsage()
  await startThread({ chunks: CHUNKS }, (lines) => writer.writeLines(lines))
  const { user, system } = process.threadCpuUsage(began)
  return (user + system) / ((CHUNKS * CHUNK_BYTES) / LINE_BYTES)
}

/** The time of a commit that waits for the disk, in milliseconds. */
async function measureCommit(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-cores-'))
  const sqlite = new OwnSqlite(join(folder, 'test.db'))
  try {
    await sqlite.open()
    const run = async (sql: string) => {
      const session = sqlite.session()
      const began = performance.now()
      await session.run({ sql, parameters: [] }, false)
      session.release()
      return performance.now() - began
    }
    await run('create table t (id integer primary key, text)')
    const times: number[] = []
    for (let i = 0; i < COMMITS; i++) times.push(await run(`insert into t (text) values ('usage ${i}')`))
    return median(times)
  } finally {
    await sqlite.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
