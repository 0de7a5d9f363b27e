import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { type SourceColumn, writeColumns } from '../columns/write-columns.ts'
import { openDuckDb } from '../open-duckdb.ts'
import { quoteText } from '../quote-sql.ts'
import type { Manifest } from '../snapshot/manifest.ts'

/** What to compile: the columns of `rowsPath`, which has this many rows, into `path`. */
export interface ColumnsRequest {
  rowsPath: string
  path: string
  rows: number
  columns: SourceColumn[]
  memoryMegabytes: number
}

export type ColumnsReply = { statistics: NonNullable<Manifest['statistics']> } | { error: unknown }

const port = parentPort!
const { rowsPath, path, rows, columns, memoryMegabytes } = workerData as ColumnsRequest
const { connection, close } = await openDuckDb({
  threads: 1,
  memoryLimit: `${memoryMegabytes}MB`,
  folders: [dirname(rowsPath)],
})
// Any message means that the result is no longer needed.
const stop = new AbortController()
port.on('message', () => {
  stop.abort()
  connection.interrupt()
})
try {
  const table = { connection, from: `read_parquet(${quoteText(rowsPath)})`, rows }
  const statistics = await writeColumns(path, table, columns, stop.signal)
  port.postMessage({ statistics } satisfies ColumnsReply)
} catch (error) {
  port.postMessage({ error } satisfies ColumnsReply)
} finally {
  close()
  port.close()
}
