import { SourceError } from '../../source-error.ts'
import type { BlockStream } from '../reading/block-stream.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { ByteWindow } from '../reading/byte-window.ts'
import { largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { readPgcopyHeader, sourceColumns } from './pgcopy-header.ts'
import { type PgcopyBlock, PgcopyParser, type PgcopyParsing } from './pgcopy-parser.ts'

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** The signature, flags and the length of an extension. */
const START_BYTES = SIGNATURE.length + 8
/** The number of fields of the row that ends the data. */
const TRAILER = -1

/** Reads rows that were copied from PostgreSQL. A file without the end of the data is refused. */
export async function openPgcopy(
  source: ByteSource,
  { limits }: { limits: SourceLimits },
): Promise<BlockStream<PgcopyParsing, PgcopyBlock>> {
  const { file } = source
  const window = new ByteWindow(source.bytes)
  const header = await readPgcopyHeader(window, file)
  if (header.columns.length > limits.columns)
    throw new SourceError(`${file} has ${header.columns.length} columns; at most ${limits.columns} are read.`)
  await skipStart(window, file)
  const rest = readBlocks(window, file, header.columns.length, limits)
  // Whoever looks at the first rows, for columns with coordinates, leaves them to those who read all.
  const first = await rest.next()
  const blocks = async function* () {
    try {
      if (!first.done) yield first.value
      yield* rest
    } finally {
      await rest.return(undefined)
    }
  }
  return {
    columns: sourceColumns(header),
    spatial: header.columns.some(({ kind }) => kind === 'geometry'),
    crs: header.crs,
    notes: [],
    totalBytes: source.totalBytes,
    get bytesRead() {
      return window.position
    },
    parsing: { format: 'pgcopy', header },
    blocks,
    async *batches() {
      const parser = new PgcopyParser(header)
      for await (const block of blocks()) yield* parser.parse(block)
    },
  }
}

async function skipStart(window: ByteWindow, file: string): Promise<void> {
  const damaged = () => new SourceError(`${file} is damaged: its rows are not those of PostgreSQL.`)
  if (!(await window.fill(START_BYTES))) throw damaged()
  const { bytes, at } = window
  if (!bytes.subarray(at, at + SIGNATURE.length).equals(SIGNATURE)) throw damaged()
  const extension = bytes.readUInt32BE(at + SIGNATURE.length + 4)
  window.at += START_BYTES
  if (!(await window.skip(extension))) throw damaged()
}

async function* readBlocks(
  window: ByteWindow,
  file: string,
  fields: number,
  limits: SourceLimits,
): AsyncGenerator<PgcopyBlock> {
  let firstRow = 1
  try {
    for (;;) {
      const { end, rows, isEnd } = scanRows(window.bytes, window.at, fields, file)
      if (rows > 0) {
        const bytes = new Uint8Array(window.bytes.subarray(window.at, end))
        window.at = end
        yield { bytes, rows, firstRow }
        firstRow += rows
      }
      if (isEnd) return
      if (window.available > limits.rowBytes)
        throw new SourceError(`${file}: row ${firstRow} is ${largerThan(limits.rowBytes)}.`)
      if (!(await window.fill(window.available + 1)))
        throw new SourceError(`${file} ends too early: after ${firstRow - 1} rows.`)
    }
  } finally {
    await window.close()
  }
}

/** The rows that are complete in `bytes`, and whether the end of the data follows them. */
function scanRows(
  bytes: Buffer,
  start: number,
  fields: number,
  file: string,
): { end: number; rows: number; isEnd: boolean } {
  let end = start
  let rows = 0
  while (end + 2 <= bytes.length) {
    const count = bytes.readInt16BE(end)
    if (count === TRAILER) return { end, rows, isEnd: true }
    if (count !== fields) throw new SourceError(`${file} is damaged: a row has ${count} fields.`)
    let at = end + 2
    for (let i = 0; i < fields && at <= bytes.length; i++) {
      if (at + 4 > bytes.length) at = Number.POSITIVE_INFINITY
      else at += 4 + Math.max(0, bytes.readInt32BE(at))
    }
    if (at > bytes.length) break
    end = at
    rows++
  }
  return { end, rows, isEnd: false }
}
