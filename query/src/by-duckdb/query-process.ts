/**
 * The process that runs queries. It measures its own memory, because DuckDB's limit does not count what
 * expressions need for their intermediate results. Its parent ends it when it has too much, or when a query does
 * not end in time.
 *
 * See docs/decisions/duckdb-for-filters.md.
 */
import { writeFileSync } from 'node:fs'
import { DuckDBBlobValue, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'
import { openDuckDb } from '@wayleave/geodata/duckdb'
import type {
  PositionedTexts,
  QueryOutcome,
  QueryProcessOptions,
  QueryReply,
  QueryRequest,
} from './query-messages.ts'

/** How often the memory is measured while a query runs, in ms. */
const MEASURE_MS = 10
/** An interrupt between two steps of a query has no effect, so it is repeated, in ms. */
const INTERRUPT_MS = 20

const options = JSON.parse(process.argv[2]!) as QueryProcessOptions
endBeforeTheServer()
const opening = openDuckDb({
  threads: options.threads,
  memoryLimit: `${options.databaseMegabytes}MB`,
  folders: [options.folder],
  settings: ['SET parquet_metadata_cache = true'],
})
// A failure is reported to each query.
opening.catch(() => {})

/** The query that runs; 0 if there is none. */
let running = 0
let interrupting: NodeJS.Timeout | undefined

process.on('message', (request: QueryRequest) => {
  if (request.kind === 'query') run(request)
  else interrupt(request.id)
})
// The server has ended. A running query would delay an orderly exit.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

async function run({ id, sql, values, wants }: QueryRequest & { kind: 'query' }): Promise<void> {
  running = id
  const measuring = setInterval(measure, MEASURE_MS)
  try {
    const { connection } = await opening
    const bound = values.map((value) => (value instanceof Uint8Array ? new DuckDBBlobValue(value) : value))
    if (wants === 'positions') {
      reply({ kind: 'positions', positions: await readPositions(connection, sql, bound) })
    } else if (wants === 'texts') {
      reply({ kind: 'texts', ...(await readTexts(connection, sql, bound)) })
    } else {
      const result = await connection.runAndReadAll(sql, bound)
      reply({ kind: 'rows', rows: result.getRows() as (string | null)[][] })
    }
  } catch (error) {
    reply({ kind: 'failed', message: (error as Error).message })
  } finally {
    clearInterval(measuring)
    clearInterval(interrupting)
    interrupting = undefined
    running = 0
  }
}

/** An interrupt that arrives after the end of its query must not end the next one. */
async function interrupt(id: number): Promise<void> {
  const { connection } = await opening
  if (running !== id) return
  interrupting ??= setInterval(() => connection.interrupt(), INTERRUPT_MS)
  connection.interrupt()
}

function measure(): void {
  const bytes = process.memoryUsage.rss()
  if (bytes > options.maxMegabytes * 1e6) reply({ kind: 'exceeded', bytes })
}

function reply(outcome: QueryOutcome): void {
  const isWorn = process.memoryUsage.rss() > options.wornMegabytes * 1e6
  if (process.connected) process.send!({ ...outcome, id: running, isWorn } satisfies QueryReply)
}

async function readPositions(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[],
): Promise<Uint32Array> {
  const result = await connection.run(sql, values)
  let positions = new Uint32Array(1024)
  let count = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) break
    if (count + chunk.rowCount > positions.length) {
      const larger = new Uint32Array(Math.max(positions.length * 2, count + chunk.rowCount))
      larger.set(positions)
      positions = larger
    }
    const column = chunk.getColumnVector(0)
    for (let i = 0; i < chunk.rowCount; i++) positions[count++] = Number(column.getItem(i))
  }
  // A copy, because the whole buffer of a view would be sent.
  return positions.slice(0, count)
}

async function readTexts(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[],
): Promise<PositionedTexts> {
  const result = await connection.run(sql, values)
  const positions: number[] = []
  const ends: number[] = []
  const texts: Buffer[] = []
  let end = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) break
    const [own, column] = [chunk.getColumnVector(0), chunk.getColumnVector(1)]
    for (let i = 0; i < chunk.rowCount; i++) {
      const text = Buffer.from(column.getItem(i) as string)
      positions.push(Number(own.getItem(i)))
      end += text.length
      ends.push(end)
      texts.push(text)
    }
  }
  return {
    positions: Uint32Array.from(positions),
    ends: Uint32Array.from(ends),
    // Not a part of the pool that small buffers share, which would be sent as a whole.
    bytes: new Uint8Array(Buffer.concat(texts)),
  }
}

/** If the machine runs out of memory, Linux ends this process and not the server. */
function endBeforeTheServer(): void {
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {}
}
