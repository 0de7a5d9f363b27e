import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { CopyError } from '../copy-error.ts'
import type { Row, RowReader } from './row-database.ts'
import { RowDigest, type TableDigest } from './row-digest.ts'
import type { TableShape } from './table-shapes-store.ts'

const BATCH_ROWS = 1000
const BATCH_CHARACTERS = 4_000_000

export interface WrittenTable extends TableDigest {
  bytes: number
  sha256: string
}

/** Writes one table as JSON lines (one array of values per row), compressed with zstd and synced to disk. */
export async function writeTableFile(
  path: string,
  reader: Pick<RowReader, 'rows'>,
  shape: TableShape,
  onRows: (rows: number) => void = () => {},
): Promise<WrittenTable> {
  const digest = new RowDigest()
  const sha256 = createHash('sha256')
  let bytes = 0
  const lines = async function* () {
    for await (const batch of reader.rows(shape)) {
      let text = ''
      for (const row of batch) {
        const line = JSON.stringify(row)
        digest.add(line)
        text += `${line}\n`
      }
      onRows(batch.length)
      yield Buffer.from(text)
    }
  }
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sha256.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  const file = createWriteStream(path, { flush: true, mode: 0o600 })
  await pipeline(Readable.from(lines()), createZstdCompress(), measure, file)
  return { ...digest.result(), bytes, sha256: sha256.digest('hex') }
}

/** Reads the rows of a table file in batches. The caller compares their digest with the record's. */
export async function* readTableFile(path: string, columns: number): AsyncGenerator<Row[]> {
  const source = createReadStream(path, { highWaterMark: 1 << 18 })
  const text = source.pipe(createZstdDecompress()).setEncoding('utf8')
  // `pipe` does not forward errors of its source.
  source.on('error', (error) => text.destroy(error))
  let rest = ''
  let batch: Row[] = []
  let characters = 0
  for await (const chunk of text as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      batch.push(parseRow(line, columns, path))
      characters += line.length
      if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (rest !== '') throw new CopyError(`${path} ends in the middle of a row.`)
  if (batch.length > 0) yield batch
}

function parseRow(line: string, columns: number, path: string): Row {
  const row: unknown = JSON.parse(line)
  if (!Array.isArray(row) || row.length !== columns)
    throw new CopyError(`${path} holds a line that is not a row.`)
  return row as Row
}
