import type { Feature, FeatureStream, Geometry, SourceColumn, UnreadableRow, Value } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { type ByteSource, peek } from './byte-source.ts'
import { findCoordinateColumns, geometryReader, otherColumns } from './coordinate-columns.ts'
import { type CsvDialect, recogniseDialect } from './csv-dialect.ts'
import { readRecords } from './csv-records.ts'
import { DEFAULT_LIMITS, megabytes, type SourceLimits } from './source-limits.ts'
import { TextDecoding, utf16Of, utf16ToUtf8 } from './text-decoding.ts'

/** How much is looked at to recognise delimiter, header and coordinates. */
const HEAD_BYTES = 1 << 18
const NEWLINE = 0x0a
const RETURN = 0x0d

/** Text in rows: comma, semicolon, tab or bar between the values, with or without a header. */
export async function openCsv(
  source: ByteSource,
  options: { limits?: SourceLimits; crs?: string } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file, totalBytes } = source
  const { head, whole, isWhole, lineEnd } = await readHead(await asUtf8(source), limits)
  refuseBinary(head, file)
  const start = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0
  const sampleEnd = isWhole ? head.length : head.lastIndexOf(lineEnd) + 1
  const sample = asLines(new TextDecoding().decode(head.subarray(start, sampleEnd)).text, lineEnd)
  const dialect = recogniseDialect(sample, isWhole)
  const { names, hasHeader } = dialect
  if (names.length === 0 || sample.trim() === '') throw new SourceError(`${file} is empty.`)
  if (names.length > limits.columns)
    throw new SourceError(`${file} has ${names.length} columns; at most ${limits.columns} are read.`)
  const { records, openQuote } = readRecords(sample, dialect.delimiter, isWhole)
  const sampleRows = records.filter((record) => typeof record !== 'string').slice(hasHeader ? 1 : 0)
  if (records.length === (hasHeader ? 1 : 0) && isWhole && !openQuote)
    throw new SourceError(`${file} has a header but no rows.`)
  const found = findCoordinateColumns(names, sampleRows, options.crs !== undefined)
  const kept = otherColumns(names.length, found.columns)
  const columns: SourceColumn[] = kept.map((i) => ({ name: names[i]!, type: 'infer-text' }))
  const notes = [...found.notes]
  if (!hasHeader) notes.push('The file has no header: its columns are named column_1, column_2 and so on.')
  const rows = new CsvRows(dialect, kept, found.columns && geometryReader(found.columns, names, found.crs))
  let bytesRead = 0
  return {
    columns,
    notes,
    crs: found.crs,
    spatial: found.columns !== null,
    totalBytes,
    get bytesRead() {
      return bytesRead
    },
    async *batches() {
      const decoding = new TextDecoding()
      let pending = ''
      let pendingDamaged = false
      // A record that is not ended is read again only when twice as much of it is there.
      let enough = 0
      for await (const [bytes, isLast, length] of wholeLines(whole.bytes, start, lineEnd, file, limits)) {
        bytesRead += length
        const { text, damaged } = decoding.decode(bytes)
        pending += asLines(text, lineEnd)
        pendingDamaged ||= damaged
        if (pending.length < enough && !isLast) continue
        const { records, rest, openQuote } = readRecords(pending, dialect.delimiter, isLast)
        const batch = rows.take(records, pendingDamaged)
        pending = pending.slice(rest)
        pendingDamaged &&= pending !== ''
        enough = openQuote ? pending.length * 2 : 0
        if (pending.length > limits.rowBytes) throw rowTooLarge(file, rows.count + 1, openQuote, limits)
        if (openQuote && isLast)
          throw new SourceError(`${file} ends inside a quoted value that begins in row ${rows.count + 1}.`)
        if (batch.length > 0) yield batch
      }
      if (decoding.encoding === 'windows-1252')
        notes.push('The text is not UTF-8 and was read as windows-1252.')
    },
  }
}

function rowTooLarge(file: string, row: number, openQuote: boolean, limits: SourceLimits): SourceError {
  const reason = openQuote ? ' A quote in it is opened and not closed.' : ''
  return new SourceError(`${file}: row ${row} is larger than ${megabytes(limits.rowBytes)}.${reason}`)
}

interface Head {
  head: Buffer
  whole: ByteSource
  /** Whether the head is all there is. */
  isWhole: boolean
  lineEnd: number
}

/** Enough of the file to hold its first line, however long that is. */
async function readHead(source: ByteSource, limits: SourceLimits): Promise<Head> {
  let whole = source
  for (let size = HEAD_BYTES; ; size = Math.min(size * 8, limits.rowBytes + 1)) {
    const [head, again] = await peek(whole, size)
    whole = again
    const isWhole = head.length < size
    const lineEnd = head.includes(NEWLINE) || !head.includes(RETURN) ? NEWLINE : RETURN
    if (isWhole || head.includes(lineEnd)) return { head, whole, isWhole, lineEnd }
    if (size > limits.rowBytes)
      throw new SourceError(`${source.file} has a line that is larger than ${megabytes(limits.rowBytes)}.`)
  }
}

async function asUtf8(source: ByteSource): Promise<ByteSource> {
  const [head, whole] = await peek(source, 2)
  const encoding = utf16Of(head)
  return encoding ? { ...whole, bytes: utf16ToUtf8(whole.bytes, encoding) } : whole
}

function refuseBinary(head: Buffer, file: string): void {
  const at = head.indexOf(0)
  if (at >= 0) throw new SourceError(`${file} is not text: byte ${at + 1} is zero.`)
}

function asLines(text: string, lineEnd: number): string {
  return lineEnd === NEWLINE ? text : text.replaceAll('\r', '\n')
}

/** Pieces that end with a line end, so that no character is cut; with the number of bytes they took. */
async function* wholeLines(
  bytes: AsyncIterable<Uint8Array>,
  start: number,
  lineEnd: number,
  file: string,
  limits: SourceLimits,
): AsyncGenerator<[piece: Buffer, isLast: boolean, length: number]> {
  let rest: Buffer[] = []
  let restBytes = 0
  let skip = start
  let offset = 0
  for await (const each of bytes) {
    const piece = Buffer.from(each.buffer, each.byteOffset + skip, each.byteLength - skip)
    if (piece.includes(0))
      throw new SourceError(`${file} is not text: byte ${offset + piece.indexOf(0) + 1} is zero.`)
    offset += each.byteLength
    skip = 0
    const end = piece.lastIndexOf(lineEnd) + 1
    if (end > 0) {
      yield [Buffer.concat([...rest, piece.subarray(0, end)]), false, each.byteLength]
      rest = []
      restBytes = 0
    }
    if (end < piece.length) rest.push(piece.subarray(end))
    restBytes += piece.length - end
    if (restBytes > limits.rowBytes)
      throw new SourceError(`${file} has a line that is larger than ${megabytes(limits.rowBytes)}.`)
  }
  yield [Buffer.concat(rest), true, 0]
}

class CsvRows {
  /** Rows read so far, the header not counted. */
  count = 0
  #header: boolean
  readonly #width: number
  readonly #kept: number[]
  readonly #isWhole: boolean
  readonly #geometry: ((row: Value[]) => Geometry | null | string) | null

  constructor(
    dialect: CsvDialect,
    kept: number[],
    geometry: ((row: Value[]) => Geometry | null | string) | null,
  ) {
    this.#header = dialect.hasHeader
    this.#width = dialect.names.length
    this.#kept = kept
    this.#isWhole = kept.length === dialect.names.length
    this.#geometry = geometry
  }

  take(records: (string[] | string)[], damaged: boolean): (Feature | UnreadableRow)[] {
    const rows: (Feature | UnreadableRow)[] = []
    for (const record of records) {
      if (this.#header) this.#header = false
      else rows.push(this.#row(record, damaged))
    }
    return rows
  }

  #row(record: string[] | string, damaged: boolean): Feature | UnreadableRow {
    const row = ++this.count
    if (typeof record === 'string') return { row, problem: record }
    const surplus = record.length - this.#width
    if (surplus < 0 || (surplus > 0 && record.slice(this.#width).some((value) => value !== ''))) {
      const [has, wants] = [record.length, this.#width]
      return {
        row,
        problem: `the row has ${has} ${has === 1 ? 'value' : 'values'} where ${wants} are expected`,
      }
    }
    if (damaged && record.some((value) => value.includes('\ufffd')))
      return { row, problem: 'the text is not UTF-8' }
    const geometry = this.#geometry === null ? null : this.#geometry(record)
    if (typeof geometry === 'string') return { row, problem: geometry }
    return { id: null, values: this.#values(record), geometry, row }
  }

  #values(record: string[]): Value[] {
    const values: Value[] = this.#isWhole ? record : this.#kept.map((i) => record[i]!)
    values.length = this.#kept.length
    for (let i = 0; i < values.length; i++) if (values[i] === '') values[i] = null
    return values
  }
}
