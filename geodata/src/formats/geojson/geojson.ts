import { axisOrder } from '../../crs.ts'
import { SourceError } from '../../source-error.ts'
import type { BlockStream } from '../reading/block-stream.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { DEFAULT_LIMITS, largerThan } from '../reading/source-limits.ts'
import { GeojsonParser, type GeojsonParsing } from './geojson-parser.ts'
import { ElementScanner, type GeojsonBlock, readHead } from './geojson-scanner.ts'
import { coordRefSysName, type PlaceReading } from './json-fg.ts'

export interface GeojsonOptions {
  /** The max size of a single feature, in bytes. */
  maxFeatureBytes?: number
  maxColumns?: number
  /** The max nesting depth of arrays and objects in one feature. */
  maxDepth?: number
  /** The CRS chosen by the publisher, which overrides the one in the file. */
  crs?: string
  /** The members that follow the features, if they can be read up front. */
  tailMembers?: () => Promise<{ [name: string]: unknown }>
}

/** Large enough for little overhead per block, small enough for objects to stay in the young generation. */
const BLOCK_BYTES = 1 << 20

/**
 * Reads all common forms of GeoJSON: a collection with other members before and after its features, a single
 * feature or geometry, one per line, or an RFC 8142 sequence; with or without a byte order mark.
 */
export async function openGeojson(
  source: ByteSource,
  options: GeojsonOptions = {},
): Promise<BlockStream<GeojsonParsing, GeojsonBlock>> {
  const window = new BlockWindow(source, options.maxFeatureBytes ?? DEFAULT_LIMITS.rowBytes)
  const head = await findHead(window).catch(async (error) => {
    await window.close()
    throw error
  })
  const maxDepth = options.maxDepth ?? DEFAULT_LIMITS.depth
  const scanner = new ElementScanner(source.file, head.isCollection, maxDepth)
  const { crs, place } = await crsAndPlace(window, head, maxDepth, options).catch(async (error) => {
    await window.close()
    throw error
  })
  const parser = new GeojsonParser(source.file, options.maxColumns, place)
  const notes: string[] = []
  let spatial = false
  const blocks = async function* () {
    try {
      yield* readBlocks(window, scanner, head, options.crs === undefined ? crs : null)
    } finally {
      await window.close()
    }
  }
  return {
    columns: parser.columns,
    notes,
    crs,
    totalBytes: source.totalBytes,
    get bytesRead() {
      return window.bytesRead
    },
    get spatial() {
      return spatial
    },
    parsing: { format: 'geojson', file: source.file, maxColumns: options.maxColumns, place },
    blocks,
    async *batches() {
      for await (const block of blocks()) {
        for (const rows of parser.parse(block)) {
          spatial ||= rows.some((row) => 'geometry' in row && row.geometry !== null)
          yield rows
        }
      }
    },
  }
}

interface Head {
  isCollection: boolean
  members: { [name: string]: unknown }
}

/** Moves the window to the first element. */
async function findHead(window: BlockWindow): Promise<Head> {
  for (;;) {
    const more = await window.fill()
    const { bytes, end, file } = window
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
      throw new SourceError(`${file} is UTF-16 text; GeoJSON is UTF-8.`)
    let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    while (at < end && (bytes[at]! <= 0x20 || bytes[at] === 0x1e)) at++
    if (at >= end) {
      if (more) continue
      throw new SourceError(`${file} is empty.`)
    }
    if (bytes[at] !== 0x7b) throw new SourceError(`${file} is not GeoJSON: it does not begin with an object.`)
    const head = readHead(bytes, at, end, !more)
    if (head === null) continue
    const type = head.members['type']
    if (type === 'Topology') throw new SourceError(`${file} is TopoJSON, not GeoJSON.`)
    if (head.isCollection && type !== undefined && type !== 'FeatureCollection')
      throw new SourceError(`${file} has features, but its type is ${JSON.stringify(type)}.`)
    window.dropTo(head.at)
    return head
  }
}

interface CrsAndPlace {
  crs: string
  /** Set if the file is JSON-FG whose features have a `place` in this CRS and no `geometry`. */
  place: PlaceReading | null
}

/** The first feature decides whether places are read: `geometry` and `place` differ in their CRS. */
async function crsAndPlace(
  window: BlockWindow,
  head: Head,
  maxDepth: number,
  options: GeojsonOptions,
): Promise<CrsAndPlace> {
  if (options.crs === undefined && isPlaceAlone(head))
    return placeIn(coordRefSysName(head.members['coordRefSys'], window.file))
  const first = await peekFirst(window, head, maxDepth)
  if (first?.place == null || first.geometry != null)
    return { crs: await crsOf(head, window.file, options), place: null }
  if (options.crs !== undefined) return { crs: options.crs, place: { northingFirst: false } }
  return placeIn(coordRefSysName(first.coordRefSys ?? head.members['coordRefSys'], window.file))
}

/** A geometry without a feature, which names its CRS itself. */
function isPlaceAlone({ isCollection, members }: Head): boolean {
  return !isCollection && members['type'] !== 'Feature' && members['coordRefSys'] != null
}

function placeIn(crs: string): CrsAndPlace {
  return { crs, place: { northingFirst: axisOrder(crs) === 'northing-first' } }
}

interface PeekedFeature {
  geometry?: unknown
  place?: unknown
  coordRefSys?: unknown
}

/** Parses the first element, if it may have a place, without moving the window. */
async function peekFirst(window: BlockWindow, head: Head, maxDepth: number): Promise<PeekedFeature | null> {
  const scanner = new ElementScanner(window.file, head.isCollection, maxDepth)
  try {
    let at = scanner.scan(window.bytes, 0, window.end)
    while (scanner.ranges.length === 0 && scanner.arrayEnd < 0 && (await window.fill()))
      at = scanner.scan(window.bytes, at, window.end)
    const [start, end] = scanner.ranges
    if (start === undefined) return null
    const bytes = Buffer.from(window.bytes.buffer, start, end! - start)
    return bytes.includes('"place"') ? (JSON.parse(bytes.toString('utf8')) as PeekedFeature) : null
  } catch (error) {
    // What is wrong with the element is reported when it is read.
    if (error instanceof SyntaxError) return null
    throw error
  }
}

async function* readBlocks(
  window: BlockWindow,
  scanner: ElementScanner,
  head: Head,
  statedCrs: string | null,
): AsyncGenerator<GeojsonBlock> {
  let at = 0
  let firstRow = 1
  for (;;) {
    at = scanner.scan(window.bytes, at, window.end)
    if (scanner.ranges.length > 0) {
      const keepFrom = scanner.openStart >= 0 ? scanner.openStart : Math.min(at, window.end)
      const ranges = Uint32Array.from(scanner.ranges)
      const row = firstRow
      // Do this before the block is yielded, because the consumer may transfer its arrays to another thread.
      firstRow += ranges.length / 2
      yield { bytes: window.take(keepFrom), ranges, firstRow: row, commas: head.isCollection }
      scanner.shift(keepFrom)
      at -= keepFrom
      if (scanner.arrayEnd >= 0) break
    }
    if (scanner.arrayEnd >= 0) {
      window.dropTo(scanner.arrayEnd)
      break
    }
    if (scanner.openStart < 0) {
      // Only whitespace is left in the window.
      window.dropTo(Math.min(at, window.end))
      at = 0
    }
    if (!(await window.fill(`feature ${scanner.count + 1}`))) {
      const { file } = window
      if (scanner.openStart >= 0) throw new SourceError(`${file} ends inside feature ${scanner.count + 1}.`)
      if (head.isCollection) throw new SourceError(`${file} ends before its array of features does.`)
      return
    }
  }
  await readTrailer(window, head, statedCrs)
}

/**
 * Parses what follows the array of features: other members and the end of the collection. `statedCrs` is the
 * CRS in which the features were read according to the file; null if the publisher chose it.
 */
async function readTrailer(window: BlockWindow, head: Head, statedCrs: string | null): Promise<void> {
  while (await window.fill('what follows the features')) {}
  const { file } = window
  const text = Buffer.from(window.bytes.subarray(0, window.end)).toString('utf8')
  if (text.trim() === ']') throw new SourceError(`${file} ends before its collection is closed.`)
  let members: { [name: string]: unknown }
  try {
    members = JSON.parse(`{"features":[${text}`)
  } catch (error) {
    throw new SourceError(`${file} is not valid after its features: ${(error as Error).message}.`)
  }
  const type = members['type'] ?? head.members['type']
  if (type !== undefined && type !== 'FeatureCollection')
    throw new SourceError(`${file} has features, but its type is ${JSON.stringify(type)}.`)
  if (statedCrs !== null && members['crs'] !== undefined && crsName(members['crs'], file) !== statedCrs)
    throw new SourceError(
      `${file} names its CRS only after its features. Name it with --crs ${crsName(members['crs'], file)}.`,
    )
}

/**
 * The CRS from the publisher, otherwise from the member before the features, otherwise from the one after
 * them, which GeoServer writes.
 */
async function crsOf(head: Head, file: string, options: GeojsonOptions): Promise<string> {
  if (options.crs !== undefined) return options.crs
  if (head.members['crs'] != null || !head.isCollection) return crsName(head.members['crs'], file)
  return crsName((await options.tailMembers?.())?.['crs'], file)
}

/** The `crs` member of GeoJSON before RFC 7946, which many files still have. */
function crsName(member: unknown, file: string): string {
  if (member === undefined || member === null) return 'OGC:CRS84'
  const { type, properties } = member as { type?: unknown; properties?: { name?: unknown; code?: unknown } }
  if (typeof properties?.name === 'string') return properties.name
  if (type === 'EPSG' && properties?.code !== undefined) return `EPSG:${properties.code}`
  throw new SourceError(`${file} has a "crs" that does not name its CRS. Name it with --crs.`)
}

/** The bytes being scanned: they are appended at the end, and dropped or taken from the front. */
class BlockWindow {
  readonly file: string
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  end = 0
  bytesRead = 0
  readonly #source: AsyncIterator<Uint8Array>
  readonly #limit: number

  constructor(source: ByteSource, limit: number) {
    this.file = source.file
    this.#source = source.bytes[Symbol.asyncIterator]()
    this.#limit = limit
  }

  /** Appends the next bytes of the source; returns false at its end. */
  async fill(what = 'the first feature'): Promise<boolean> {
    const { value, done } = await this.#source.next()
    if (done || value === undefined) return false
    this.bytesRead += value.length
    const needed = this.end + value.length
    if (this.end > this.#limit) throw new SourceError(`${this.file}: ${what} is ${largerThan(this.#limit)}.`)
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(this.#sizeFor(needed))
      grown.set(this.bytes.subarray(0, this.end))
      this.bytes = grown
    }
    this.bytes.set(value, this.end)
    this.end = needed
    return true
  }

  #sizeFor(needed: number): number {
    // A small file arrives in one piece.
    if (this.end === 0) return needed
    return Math.max(needed, this.end > BLOCK_BYTES ? this.end * 2 : BLOCK_BYTES + needed)
  }

  /** Closes the file if reading is aborted early. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  dropTo(at: number): void {
    this.bytes.copyWithin(0, at, this.end)
    this.end -= at
  }

  /** Returns the bytes before `at` and copies the rest to a new buffer. */
  take(at: number): Uint8Array<ArrayBuffer> {
    const head = this.bytes.subarray(0, at)
    const rest = this.end - at
    this.bytes = new Uint8Array(head.buffer, at, rest).slice()
    this.end = rest
    return head
  }
}
