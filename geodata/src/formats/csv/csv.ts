import { SourceError } from '../../source-error.ts'
import type { BlockStream } from '../reading/block-stream.ts'
import { type ByteSource, peek } from '../reading/byte-source.ts'
import { findCoordinateColumns, otherColumns } from '../reading/coordinate-columns.ts'
import { nulCharacter } from '../reading/nul-character.ts'
import type { ReadOptions } from '../reading/read-options.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { encodingNamed } from '../reading/text/encoding.ts'
import { TextDecoding, utf8Source, utf16Of } from '../reading/text/text-decoding.ts'
import { CsvBlocks } from './csv-blocks.ts'
import { detectDialect, readSepLine, titleProblem } from './csv-dialect.ts'
import {
  type CsvBlock,
  CsvFeatures,
  type CsvLayout,
  CsvParser,
  type CsvParsing,
  csvColumns,
} from './csv-parser.ts'
import { sampleRecords } from './csv-records.ts'

/** The number of bytes used to detect delimiter, header and coordinates. */
const HEAD_BYTES = 1 << 18
const NEWLINE = 0x0a
const RETURN = 0x0d

export interface CsvOptions extends ReadOptions {
  limits?: SourceLimits
  crs?: string
  /** Whether lines without any delimiter are a table of one column; otherwise such text is refused. */
  allowOneColumn?: boolean
}

/** Reads delimited text: comma, semicolon, tab or pipe between the values, with or without a header. */
export async function openCsv(
  source: ByteSource,
  options: CsvOptions = {},
): Promise<BlockStream<CsvParsing, CsvBlock>> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file, totalBytes } = source
  const { head, whole, isWhole, lineEnd } = await readHead(await asUtf8(source), limits)
  refuseBinary(head, file)
  const mark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0
  const sepLine = readSepLine(head.subarray(mark))
  const start = afterLines(head, mark + (sepLine?.length ?? 0), lineEnd, options.skipLines ?? 0, file)
  const sampleEnd = isWhole ? head.length : head.lastIndexOf(lineEnd) + 1
  const decoding = new TextDecoding(file)
  const sample = asLines(decoding.decode(head.subarray(start, sampleEnd)).bytes, lineEnd)
  const { names, headers, delimiter, ...dialect } = detectDialect(sample, isWhole, {
    ...{ header: options.header, headerLines: options.headerLines },
    delimiter: sepLine?.delimiter,
    isTabbed: /\.(tsv|tab)(\.\w+)?$/i.test(file),
  })
  if (names.length === 0 || sample.toString('latin1').trim() === '')
    throw new SourceError(`${file} is empty.`)
  const title = titleProblem(sample, isWhole, { delimiter, names })
  if (title !== null) throw new SourceError(`${file}: ${title}`)
  if (names.length === 1 && sepLine === null && options.allowOneColumn === false)
    throw new SourceError(
      `${file} is text without columns: no comma, semicolon, tab or | separates values in its lines. If it is a table of one column, publish it with --format csv.`,
    )
  if (names.length > limits.columns)
    throw new SourceError(`${file} has ${names.length} columns; at most ${limits.columns} are read.`)
  const { records, count, isQuoted } = sampleRecords(sample, delimiter, isWhole)
  if (count <= headers && isWhole && !isQuoted) throw new SourceError(`${file} has a header but no rows.`)
  const coordinates = findCoordinateColumns(names, records.slice(headers), {
    ...options,
    file,
  })
  const valueIndexes = otherColumns(names.length, coordinates.columns)
  const notes = [...dialect.notes, ...coordinates.notes]
  if (sepLine) notes.push(`The first line, sep=${delimiter}, names the delimiter and is not a row.`)
  if (headers === 0) notes.push('The file has no header: its columns are named column_1, column_2 and so on.')
  const layout: CsvLayout = {
    delimiter,
    names,
    valueIndexes,
    coordinates: coordinates.columns,
    crs: coordinates.crs,
  }
  const columns = csvColumns(layout)
  const blocks = new CsvBlocks(file, limits, delimiter, headers)
  let bytesRead = 0
  const readBlocks = async function* () {
    for await (const [piece, isLast, length] of wholeLines(whole.bytes, start, lineEnd, file, limits)) {
      bytesRead += length
      const { bytes, damaged } = decoding.decode(piece)
      const block = blocks.take(asLines(bytes, lineEnd), damaged, isLast)
      if (block !== null) yield block
    }
    notes.push(...decoding.notes())
  }
  return {
    columns,
    notes,
    crs: coordinates.crs,
    spatial: coordinates.columns !== null,
    totalBytes,
    get bytesRead() {
      return bytesRead
    },
    parsing: { format: 'csv', layout },
    blocks: readBlocks,
    async *batches() {
      const parser = new CsvParser(layout)
      for await (const block of readBlocks()) {
        const features = new CsvFeatures()
        parser.parse(block, features)
        yield features.rows
      }
    },
  }
}

interface Head {
  head: Buffer
  whole: ByteSource
  /** Whether the head is the whole file. */
  isWhole: boolean
  lineEnd: number
}

/** Reads enough of the file to include its first line, however long it is. */
async function readHead(source: ByteSource, limits: SourceLimits): Promise<Head> {
  let whole = source
  for (let size = HEAD_BYTES; ; size = Math.min(size * 8, limits.rowBytes + 1)) {
    const [head, again] = await peek(whole, size)
    whole = again
    const isWhole = head.length < size
    const lineEnd = head.includes(NEWLINE) || !head.includes(RETURN) ? NEWLINE : RETURN
    if (isWhole || head.includes(lineEnd)) return { head, whole, isWhole, lineEnd }
    if (size > limits.rowBytes)
      throw new SourceError(`${source.file} has a line that is ${largerThan(limits.rowBytes)}.`)
  }
}

/** The offset after this many lines that are not empty. */
function afterLines(head: Buffer, start: number, lineEnd: number, lines: number, file: string): number {
  let at = start
  for (let left = lines; left > 0; ) {
    const end = head.indexOf(lineEnd, at)
    if (end < 0)
      throw new SourceError(`${file} has no lines after the ${lines} that --skip-lines leaves out.`)
    if (head.toString('latin1', at, end).trim() !== '') left--
    at = end + 1
  }
  return at
}

async function asUtf8(source: ByteSource): Promise<ByteSource> {
  const [head, whole] = await peek(source, 64)
  const encoding = utf16Of(head)
  return encoding ? utf8Source(whole, encodingNamed(encoding)) : whole
}

function refuseBinary(head: Buffer, file: string): void {
  const at = head.indexOf(0)
  if (at >= 0) throw nulCharacter(file, at)
}

function asLines(bytes: Buffer, lineEnd: number): Buffer {
  return lineEnd === NEWLINE ? bytes : Buffer.from(bytes.map((byte) => (byte === RETURN ? NEWLINE : byte)))
}

/** Pieces that end with a line end, so that no character is split; with the number of source bytes. */
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
    if (piece.includes(0)) throw nulCharacter(file, offset + skip + piece.indexOf(0))
    offset += each.byteLength
    skip = 0
    const end = piece.lastIndexOf(lineEnd) + 1
    if (end > 0) {
      const ended = piece.subarray(0, end)
      yield [rest.length === 0 ? ended : Buffer.concat([...rest, ended]), false, each.byteLength]
      rest = []
      restBytes = 0
    }
    if (end < piece.length) rest.push(piece.subarray(end))
    restBytes += piece.length - end
    if (restBytes > limits.rowBytes)
      throw new SourceError(`${file} has a line that is ${largerThan(limits.rowBytes)}.`)
  }
  yield [Buffer.concat(rest), true, 0]
}
