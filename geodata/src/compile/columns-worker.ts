import { parentPort, workerData } from 'node:worker_threads'
import { type SourceColumn, writeColumns } from '../columns/write-columns.ts'
import { openDuckDb } from '../open-duckdb.ts'
import { parquetSql } from '../quote-sql.ts'
import type { Manifest } from '../snapshot/manifest.ts'

/** The folder of the snapshot, and for the database that reads it a folder to spill to, and a memory limit. */
export interface ColumnsThreadData {
  folder: string
  temporaryFolder: string
  memoryMegabytes: number
}

/** What to compile: the columns of `rowsPath`, which has this many rows, into `path`. */
export interface ColumnsRequest {
  rowsPath: string
  path: string
  rows: number
  columns: SourceColumn[]
}

export type ColumnsReply = { statistics: NonNullable<Manifest['statistics']> } | { error: unknown }

const port = parentPort!
const { folder, temporaryFolder, memoryMegabytes } = workerData as ColumnsThreadData
const { instance, close } = await openDuckDb({
  threads: 1,
  memoryLimit: `${memoryMegabytes}MB`,
  folders: [folder],
  temporaryFolder,
})
const stop = new AbortController()
const request = await new Promise<ColumnsRequest | null>((resolve) => {
  port.on('message', (message: ColumnsRequest | 'stop') => {
    if (message === 'stop') stop.abort()
    resolve(message === 'stop' ? null : message)
  })
})
try {
  if (request !== null) {
    const { rowsPath, path, rows, columns } = request
    const source = { instance, from: parquetSql(rowsPath), rows }
    const statistics = await writeColumns(path, source, columns, stop.signal)
    port.postMessage({ statistics } satisfies ColumnsReply)
  }
} catch (error) {
  port.postMessage({ error } satisfies ColumnsReply)
} finally {
  close()
  port.close()
}
