import { isUtf8 } from 'node:buffer'
import type { Feature, FeatureStream, Geometry, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { ElementScanner } from '../geojson/geojson-scanner.ts'
import { type ByteSource, peek } from '../reading/byte-source.ts'
import { findCoordinateColumns } from '../reading/coordinate-columns.ts'
import { type CoordinateColumns, geometryReader } from '../reading/coordinate-reader.ts'
import { parseJson } from '../reading/parse-json.ts'
import type { ReadOptions } from '../reading/read-options.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { encodingNamed } from '../reading/text/encoding.ts'
import { utf8Source, utf16Of } from '../reading/text/text-decoding.ts'
import { findJsonRows } from './json-head.ts'

/** The number of bytes used to distinguish the forms of JSON. */
const HEAD_BYTES = 1 << 20

type JsonRow = { [name: string]: Value }

interface JsonOptions extends ReadOptions {
  limits?: SourceLimits
  crs?: string
}

/** Reads rows as JSON objects: an array, one object per line, or an object that contains one array. */
export async function openJson(source: ByteSource, options: JsonOptions = {}): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file } = source
  const [start, unmarked] = await peek(source, 64)
  const encoding = utf16Of(start)
  const utf8 = encoding ? utf8Source(unmarked, encodingNamed(encoding)) : unmarked
  const [head, whole] = await peek(utf8, HEAD_BYTES)
  const place = findJsonRows(head, head.length < HEAD_BYTES, file)
  const elements = new JsonElements(whole, place, limits)
  const blocks = elements.blocks()
  const { value: first = [] } = await blocks.next()
  const table = new JsonTable(file, first, limits, options)
  return {
    columns: table.columns,
    notes: table.notes,
    crs: table.crs,
    spatial: table.crs !== null || table.geometry !== null,
    totalBytes: source.totalBytes,
    get bytesRead() {
      return elements.bytesRead
    },
    async *batches() {
      try {
        if (first.length > 0) yield table.take(first)
        for await (const block of blocks) yield table.take(block)
      } finally {
        await blocks.return(undefined)
      }
    },
  }
}

/** A row's object, or a sentence that says what is wrong with it. */
export type Element = JsonRow | string

export class JsonElements {
  bytesRead = 0
  readonly #source: ByteSource
  readonly #inArray: boolean
  readonly #start: number
  readonly #closing: string
  readonly #limits: SourceLimits

  constructor(
    source: ByteSource,
    place: { at: number; inArray: boolean; closing: string },
    limits: SourceLimits,
  ) {
    this.#source = source
    this.#inArray = place.inArray
    this.#start = place.at
    this.#closing = place.closing
    this.#limits = limits
  }

  async *blocks(): AsyncGenerator<Element[]> {
    const { file } = this.#source
    const scanner = new ElementScanner(file, this.#inArray, this.#limits.depth)
    let bytes: Buffer = Buffer.alloc(0)
    let at = this.#start
    let pieces: Uint8Array[] = []
    let gathered = 0
    for await (const piece of this.#source.bytes) {
      this.bytesRead += piece.length
      pieces.push(piece)
      gathered += piece.length
      // Only concatenate a large element after its size has doubled, to avoid quadratic copying.
      if (scanner.openStart >= 0 && gathered < bytes.length) continue
      bytes = Buffer.concat([bytes, ...pieces])
      pieces = []
      gathered = 0
      if (scanner.arrayEnd >= 0) {
        this.#refuseLarge(bytes, scanner)
        continue
      }
      at = scanner.scan(bytes, at, bytes.length)
      if (scanner.ranges.length > 0) yield parseElements(bytes, scanner.ranges, this.#inArray)
      const keep = Math.min(scanner.openStart >= 0 ? scanner.openStart : at, bytes.length)
      bytes = bytes.subarray(keep)
      scanner.shift(keep)
      at -= keep
      this.#refuseLarge(bytes, scanner)
    }
    bytes = Buffer.concat([bytes, ...pieces])
    if (scanner.arrayEnd < 0) {
      scanner.scan(bytes, at, bytes.length)
      if (scanner.ranges.length > 0) yield parseElements(bytes, scanner.ranges, this.#inArray)
    }
    this.#refuseUnfinished(scanner, bytes)
  }

  #refuseLarge(bytes: Buffer, scanner: ElementScanner): void {
    const { rowBytes } = this.#limits
    if (bytes.length <= rowBytes) return
    const what = scanner.arrayEnd >= 0 ? 'what follows the rows' : `row ${scanner.count + 1}`
    throw new SourceError(`${this.#source.file}: ${what} is ${largerThan(rowBytes)}.`)
  }

  #refuseUnfinished(scanner: ElementScanner, rest: Buffer): void {
    const { file } = this.#source
    if (scanner.openStart >= 0) throw new SourceError(`${file} ends inside row ${scanner.count + 1}.`)
    if (!this.#inArray) return
    if (scanner.arrayEnd < 0) throw new SourceError(`${file} ends before its array of rows does.`)
    const tail = rest.toString('latin1').trimEnd()
    if (!tail.endsWith(this.#closing))
      throw new SourceError(`${file} ends before the object around its rows does.`)
  }
}

function parseElements(bytes: Buffer, ranges: number[], commas: boolean): Element[] {
  const block = bytes.subarray(ranges[0], ranges.at(-1))
  if (commas && isUtf8(block)) {
    try {
      return parseJson(`[${block.toString('utf8')}]`) as JsonRow[]
    } catch {
      // One of the elements is invalid; parse each separately to find out which.
    }
  }
  const elements: Element[] = []
  for (let i = 0; i < ranges.length; i += 2)
    elements.push(parseElement(bytes.subarray(ranges[i], ranges[i + 1])))
  return elements
}

function parseElement(bytes: Buffer): Element {
  if (!isUtf8(bytes)) return 'the text is not UTF-8'
  try {
    return parseJson(bytes.toString('utf8')) as JsonRow
  } catch (error) {
    return `not valid JSON: ${(error as Error).message}`
  }
}

class JsonTable {
  readonly columns: SourceColumn[] = []
  readonly notes: string[]
  readonly crs: string | null
  readonly geometry: ((row: Value[]) => Geometry | null | string) | null = null
  readonly #file: string
  readonly #limits: SourceLimits
  readonly #places = new Map<string, number>()
  /** The names of the columns that contain the coordinates. */
  readonly #coordinates: string[] = []
  /** The names in the first rows; more may follow. */
  readonly #firstNames: string[]
  #count = 0

  constructor(file: string, first: Element[], limits: SourceLimits, options: JsonOptions) {
    this.#file = file
    this.#limits = limits
    const rows = first.filter((element) => typeof element !== 'string')
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const coordinates = findCoordinateColumns(
      names,
      rows.map((row) => names.map((name) => row[name] ?? null)),
      { ...options, file },
    )
    this.#firstNames = names
    this.notes = coordinates.notes
    this.crs = coordinates.crs
    if (coordinates.columns) {
      const [columns, used] = compact(coordinates.columns, names)
      this.#coordinates = used
      this.geometry = geometryReader(columns, used, coordinates.crs)
    }
  }

  take(elements: Element[]): (Feature | UnreadableRow)[] {
    return elements.map((element) => {
      const row = ++this.#count
      if (typeof element === 'string') return { row, problem: element }
      const geometry =
        this.geometry === null ? null : this.geometry(this.#coordinates.map((name) => element[name] ?? null))
      if (typeof geometry === 'string') return { row, problem: geometry }
      return { id: null, values: this.#values(element), geometry, row }
    })
  }

  #values(element: JsonRow): Value[] {
    const values: Value[] = new Array(this.columns.length).fill(null)
    for (const name in element) {
      let place = this.#places.get(name)
      if (place === undefined) {
        if (this.#coordinates.includes(name)) continue
        place = this.#addColumn(name)
      }
      while (values.length < place) values.push(null)
      values[place] = element[name]!
    }
    return values
  }

  #addColumn(name: string): number {
    const place = this.columns.length
    if (place >= this.#limits.columns)
      throw new SourceError(`${this.#file} has more than ${this.#limits.columns} columns.`)
    this.#places.set(name, place)
    const position = this.#firstNames.indexOf(name)
    const number = (position < 0 ? place + this.#coordinates.length : position) + 1
    this.columns.push({ name, type: 'infer-json', number })
    return place
  }
}

/** The same columns, with indexes into the list of used columns only. */
function compact(columns: CoordinateColumns, names: string[]): [CoordinateColumns, string[]] {
  return columns.kind === 'pair'
    ? [{ kind: 'pair', x: 0, y: 1 }, [names[columns.x]!, names[columns.y]!]]
    : [{ ...columns, column: 0 }, [names[columns.column]!]]
}
