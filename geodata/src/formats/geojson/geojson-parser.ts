import {
  type Feature,
  GEOMETRY_TYPES,
  type Geometry,
  type SourceColumn,
  type UnreadableRow,
  type Value,
} from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { parseJson } from '../reading/parse-json.ts'
import type { GeojsonBlock } from './geojson-scanner.ts'
import { PLACE_TYPES, type PlaceReading, readPlace, readTime } from './json-fg.ts'

/** What a worker needs to parse the blocks. */
export interface GeojsonParsing {
  format: 'geojson'
  file: string
  maxColumns: number | undefined
  place: PlaceReading | null
}

const TYPE_NAMES: ReadonlySet<string> = new Set(GEOMETRY_TYPES)

const DEFAULT_COLUMNS = 2000
const MAX_NAME_LENGTH = 1000
/** The memory of larger texts is mapped and unmapped for each of them; smaller ones share pages. */
const PART_BYTES = 32_000

interface RawFeature {
  type?: unknown
  id?: unknown
  geometry?: Geometry | null
  /** The members that JSON-FG adds. */
  place?: object | null
  time?: unknown
  properties?: { [name: string]: Value } | null
}

/** Parses scanned blocks into features and discovers the columns. */
export class GeojsonParser {
  readonly columns: SourceColumn[] = []
  /** The names of the columns, made different from each other: a property may be called like a `time`. */
  readonly keys: string[] = []
  readonly #place: PlaceReading | null
  readonly #file: string
  readonly #maxColumns: number
  readonly #places = new Map<string, number>()
  /** The property names of the previous feature in order; the next feature usually has the same ones. */
  #names: string[] = []
  #namePlaces: number[] = []

  /** `place`: how places are read, if the file's features have places instead of geometries. */
  constructor(file: string, maxColumns = DEFAULT_COLUMNS, place: PlaceReading | null = null) {
    this.#file = file
    this.#place = place
    this.#maxColumns = maxColumns
  }

  /** Parses a block in parts, so that what was parsed of one can be freed before the next is parsed. */
  *parse({ bytes, ranges, firstRow, commas }: GeojsonBlock): Generator<(Feature | UnreadableRow)[]> {
    for (let from = 0; from < ranges.length; ) {
      const end = ranges[from]! + PART_BYTES
      let to = from + 2
      while (to < ranges.length && ranges[to + 1]! <= end) to += 2
      const part = { bytes, ranges: ranges.subarray(from, to), firstRow: firstRow + from / 2, commas }
      yield this.#parsePart(part)
      from = to
    }
  }

  #parsePart(part: GeojsonBlock): (Feature | UnreadableRow)[] {
    const elements = this.#parseWhole(part)
    const rows: (Feature | UnreadableRow)[] = []
    for (let i = 0; i < part.ranges.length / 2; i++) {
      const row = part.firstRow + i
      if (elements !== null) rows.push(this.#feature(elements[i]!, row))
      else rows.push(this.#parseOne(part, i, row))
    }
    return rows
  }

  /** Parses a whole part with one call; returns null if each element must be parsed separately. */
  #parseWhole(part: GeojsonBlock): unknown[] | null {
    if (!part.commas) return null
    try {
      const bytes = part.bytes.subarray(part.ranges[0]!, part.ranges[part.ranges.length - 1]!)
      if (hasLongInteger(bytes)) return null
      // A single element may be a huge feature, whose text should not be copied unnecessarily.
      if (part.ranges.length === 2) return [JSON.parse(decode(bytes))]
      const elements = JSON.parse(`[${decode(bytes)}]`) as unknown[]
      return elements.length === part.ranges.length / 2 ? elements : null
    } catch {
      return null
    }
  }

  #parseOne(block: GeojsonBlock, index: number, row: number): Feature | UnreadableRow {
    let text: string
    try {
      text = decode(block.bytes.subarray(block.ranges[index * 2]!, block.ranges[index * 2 + 1]!))
    } catch {
      return { row, problem: 'the text is not UTF-8' }
    }
    let element: unknown
    try {
      element = parseJson(text)
    } catch (error) {
      return { row, problem: `not valid JSON: ${(error as Error).message}` }
    }
    return this.#feature(element, row)
  }

  #feature(element: unknown, row: number): Feature | UnreadableRow {
    const raw = element as RawFeature
    if (raw.type !== 'Feature') {
      if (typeof raw.type === 'string' && TYPE_NAMES.has(raw.type) && this.#place === null)
        return { id: null, values: [], geometry: element as Geometry, row }
      if (TYPE_NAMES.has(raw.type as string) || PLACE_TYPES.has(raw.type))
        return this.#geometryAlone(element as object, row)
      return { row, problem: `a Feature is expected, but "type" is ${JSON.stringify(raw.type) ?? 'missing'}` }
    }
    const { properties = null, id } = raw
    const geometry = this.#geometry(raw)
    if (typeof geometry === 'string') return { row, problem: geometry }
    if (properties !== null && (typeof properties !== 'object' || Array.isArray(properties)))
      return { row, problem: '"properties" is neither an object nor null' }
    const isId = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
    const values = this.#values(properties)
    if (raw.time !== undefined) this.#setTime(values, raw.time)
    if (isId) return { id, values, geometry, row }
    const feature: Feature = { id: null, values, geometry, row }
    if (id !== undefined && id !== null) feature.hasUnusableId = true
    return feature
  }

  #geometryAlone(element: object, row: number): Feature | UnreadableRow {
    const geometry = this.#readPlace(element, this.#place ?? { northingFirst: false })
    return typeof geometry === 'string' ? { row, problem: geometry } : { id: null, values: [], geometry, row }
  }

  #readPlace(place: object, reading: PlaceReading): Geometry | string {
    try {
      return readPlace(place, reading)
    } catch (error) {
      if (error instanceof SourceError) return error.message
      throw error
    }
  }

  /** The geometry, or a sentence if it is in another CRS than the file's first one. */
  #geometry({ geometry = null, place = null }: RawFeature): Geometry | null | string {
    if (place === null || typeof place !== 'object') {
      if (geometry === null || this.#place === null) return geometry
      return 'the feature has a "geometry" and no "place", unlike the first feature, and the two differ in their CRS'
    }
    if (this.#place === null) {
      if (geometry !== null) return geometry
      return 'the feature has a "place" and no "geometry", unlike the first feature, and the two differ in their CRS'
    }
    return this.#readPlace(place, this.#place)
  }

  #setTime(values: Value[], time: unknown): void {
    for (const [name, value] of readTime(time)) {
      const place = this.#placeOf(name, `\0${name}`)
      while (values.length < place) values.push(null)
      values[place] = value
    }
  }

  #values(properties: { [name: string]: Value } | null): Value[] {
    if (properties === null) return []
    const values: Value[] = new Array(this.columns.length).fill(null)
    let i = 0
    for (const name in properties) {
      if (this.#names[i] !== name) {
        this.#names[i] = name
        this.#namePlaces[i] = this.#placeOf(name)
      }
      const place = this.#namePlaces[i++]!
      while (values.length < place) values.push(null)
      values[place] = properties[name]!
    }
    return values
  }

  #placeOf(name: string, key = name): number {
    const earlierPlace = this.#places.get(key)
    if (earlierPlace !== undefined) return earlierPlace
    const place = this.columns.length
    if (place >= this.#maxColumns)
      throw new SourceError(`${this.#file} has more than ${this.#maxColumns} columns.`)
    if (name.length > MAX_NAME_LENGTH)
      throw new SourceError(
        `${this.#file} has a column whose name is longer than ${MAX_NAME_LENGTH} characters.`,
      )
    this.#places.set(key, place)
    this.keys.push(key)
    this.columns.push({ name, type: 'infer-json' })
    return place
  }
}

/**
 * Whether there is a number that begins with sixteen digits and may be an integer that a double cannot
 * represent. Checking every sixteenth byte finds any run of sixteen digits; those after a decimal point or in
 * a string do not count.
 */
function hasLongInteger(bytes: Uint8Array): boolean {
  for (let probe = 15; probe < bytes.length; probe += 16) {
    if (!isDigit(bytes[probe]!)) continue
    let from = probe
    while (from > 0 && isDigit(bytes[from - 1]!)) from--
    let to = probe + 1
    while (to < bytes.length && isDigit(bytes[to]!)) to++
    if (to - from >= 16 && isBeforeNumber(bytes[from - 1])) return true
    // On after these digits: a text may have any number of them.
    probe = to
  }
  return false
}

function isBeforeNumber(byte: number | undefined): boolean {
  return byte === 0x3a || byte === 0x2c || byte === 0x5b || byte === 0x2d || (byte ?? 0) <= 0x20
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
