import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { deserialize, serialize } from 'node:v8'
import type { StageSummary } from './stage.ts'

/** What one process has staged of a source. */
export interface StagedRows {
  summary: StageSummary
  /** The bytes of all values, which are limited for the whole source. */
  valueBytes: number
}

/** The end of a part file: what is known of its rows, and where the files are that were packed into it. */
interface Contents extends StagedRows {
  files: { start: number; end: number }[]
}

const LENGTH_BYTES = 8

/**
 * Packs the files of a stage into one, and removes them. First come the runs, which are read where they are, and the
 * files for the database; then `Contents`, and its length as a float64.
 */
export async function writePartFile(path: string, { summary, valueBytes }: StagedRows): Promise<void> {
  let written = 0
  const append = async (file: string) => {
    const start = written
    const source = createReadStream(file)
    await pipeline(source, createWriteStream(path, { flags: start === 0 ? 'w' : 'a' }))
    written += source.bytesRead
    await rm(file)
    return { start, end: written }
  }
  const starts = new Map<string, number>()
  for (const { file } of summary.runs) if (!starts.has(file)) starts.set(file, (await append(file)).start)
  const files = []
  for (const file of summary.files) files.push(await append(file))
  const runs = summary.runs.map(({ file, start, end }) => {
    const before = starts.get(file)!
    return { file: '', start: before + start, end: before + end }
  })
  const contents: Contents = { summary: { ...summary, files: [], runs }, valueBytes, files }
  const bytes = serialize(contents)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeDoubleLE(bytes.length)
  const handle = await open(path, written === 0 ? 'w' : 'a')
  try {
    await handle.appendFile(Buffer.concat([bytes, length]))
  } finally {
    await handle.close()
  }
}

/** Reads a part as if it had been staged here. The database needs files of its own, which are copied to `folder`. */
export async function openPartFile(path: string, folder: string, prefix: string): Promise<StagedRows> {
  const { summary, valueBytes, files } = await readContents(path)
  for (const [i, { start, end }] of files.entries()) {
    const copy = join(folder, `${prefix}-${i}.parquet`)
    await pipeline(createReadStream(path, { start, end: end - 1 }), createWriteStream(copy))
    summary.files.push(copy)
  }
  for (const run of summary.runs) run.file = path
  return { summary, valueBytes }
}

async function readContents(path: string): Promise<Contents> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const length = Buffer.alloc(LENGTH_BYTES)
    await handle.read(length, 0, LENGTH_BYTES, size - LENGTH_BYTES)
    const bytes = Buffer.alloc(length.readDoubleLE())
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - LENGTH_BYTES - bytes.length)
    if (bytesRead < bytes.length) throw new Error(`the part ${path} is not whole`)
    return deserialize(bytes) as Contents
  } finally {
    await handle.close()
  }
}
