import { GrowingBytes, varintLength, writeVarint } from '../../bytes/growing-bytes.ts'
import { parseNumber } from '../../exports/geometry/geometry-bytes.ts'
import type { Column, ColumnType } from '../../feature.ts'
import { FeatureSlices } from '../../pack/pack-reader.ts'
import { PropertySlices } from '../../pack/property-slices.ts'
import { POINT, type TileGeometry, type TileGeometryType } from '../tile-geometry.ts'
import { EXTENT } from '../web-mercator.ts'
import { type CellSummary, cellPropertiesOf, type TileColumn } from './cell-values.ts'
import { TileFeatures } from './tile-features.ts'
import { exceeds64Bits, TileValues } from './tile-values.ts'

const LAYER_TAG = 0x1a
const NAME_TAG = 0x0a
const KEY_TAG = 0x1a
const EXTENT_TAG = 0x28
const VERSION_TAG = 0x78

/** Every integer of this many characters fits in 64 bits. */
const MAX_SHORT_INTEGER = 18

const QUOTE = 0x22
const MINUS = 0x2d
const BACKSLASH = 0x5c

/** The id, the count of points and the count of features. */
const OWN_NAMES = 3

/** The properties that tiles add to those of the dataset. A column of the same name keeps its name. */
export interface OwnProperties {
  /** Ids that are not the unsigned integers that MVT demands. */
  id: string
  /**
   * The number of features that a point stands for. A feature without it stands for itself. 0 marks a part of a
   * multipoint that is counted in another tile.
   */
  pointCount: string
  /** The number of small lines or polygons that a drawn one stands for. */
  featureCount: string
}

/** What the properties of tiles are, beside what the columns tell. */
export interface SeenProperties {
  /** Whether a feature has its id as a property. */
  hasId: boolean
  /** The names of the properties with integers that are texts, because they exceed 64 bits. */
  longIntegers: Set<string>
}

export function ownProperties(columns: readonly Column[]): OwnProperties {
  const isTaken = (name: string) => columns.some((column) => column.name === name)
  const free = (name: string) => {
    let at = 0
    let chosen = name
    while (isTaken(chosen)) chosen = `${name}_${++at}`
    return chosen
  }
  return {
    id: isTaken('id') ? free('feature_id') : 'id',
    pointCount: free('point_count'),
    featureCount: free('feature_count'),
  }
}

/**
 * The one layer of a tile in the making, by MVT 2.1. It is used again for one tile after the other. Features
 * are taken from the bytes of the pack, so no value is parsed that a tile has already.
 *
 * The values of a column follow each other in the tile, because similar values side by side compress better: the
 * archive of a million points with eight columns is 4 % smaller than with the values in the order of the features.
 */
export class TileLayer {
  readonly #name: Buffer
  /** The properties of all tiles so far. */
  readonly seen: SeenProperties = { hasId: false, longIntegers: new Set() }
  readonly #columns: readonly Column[]
  readonly #allColumns: readonly number[]
  readonly #names: string[]
  /** The number of each column's key in this tile, or -1. After the columns stand the names of our own. */
  #keys: Int32Array
  /** The properties of clusters after our own names: for each summed up column its own list. */
  #summed: ColumnType[][] = []
  /** The columns that every feature has, also one without its other properties. */
  #kept: readonly number[] = []
  readonly #slices = new FeatureSlices()
  readonly #properties: PropertySlices
  /** The values of each key, by the number of the key. */
  readonly #values: TileValues[] = []
  readonly #features = new TileFeatures()
  readonly #keyBytes = new GrowingBytes()
  #keyCount = 0
  #valueBytes = 0

  constructor(name: string, columns: readonly Column[]) {
    this.#name = Buffer.from(name)
    this.#columns = columns
    this.#allColumns = columns.map((_, index) => index)
    const own = ownProperties(columns)
    this.#names = [...columns.map((column) => column.name), own.id, own.pointCount, own.featureCount]
    this.#keys = new Int32Array(this.#names.length)
    this.#properties = new PropertySlices(columns)
    this.clear()
  }

  /** The columns that clusters sum up in the tiles from now on. */
  set summed(columns: readonly Pick<TileColumn, 'name' | 'type'>[]) {
    const properties = columns.map(cellPropertiesOf)
    this.#names.length = this.#columns.length + OWN_NAMES
    this.#names.push(...properties.flat().map(({ name }) => name))
    this.#summed = properties.map((list) => list.map(({ type }) => type))
    this.#kept = columns.map(({ name }) => this.#columns.findIndex((column) => column.name === name))
    this.#keys = new Int32Array(this.#names.length)
    this.clear()
  }

  clear(): void {
    this.#features.clear()
    this.#keyBytes.length = 0
    this.#keyCount = 0
    this.#keys.fill(-1)
    this.#valueBytes = 0
  }

  /** The number of features so far. */
  get features(): number {
    return this.#features.count
  }

  /** About the size of the tile so far, in bytes before compression. */
  get size(): number {
    return this.#features.size + this.#valueBytes
  }

  /**
   * Adds the feature that lies in `bytes` of the pack from `start` to `end`. `featureCount` tells how many small
   * features it stands for, itself included. A part of a multipoint that is counted in another tile is not `isCounted`.
   */
  add(
    bytes: Buffer,
    start: number,
    end: number,
    type: TileGeometryType,
    geometry: TileGeometry,
    { withProperties = true, featureCount = 1, isCounted = true } = {},
  ): void {
    const slices = this.#slices
    slices.locate(bytes, start, end)
    const { propertiesStart, propertiesEnd } = slices
    if (withProperties) this.#tagProperties(bytes, propertiesStart, propertiesEnd, this.#allColumns)
    else if (this.#kept.length > 0) this.#tagProperties(bytes, propertiesStart, propertiesEnd, this.#kept)
    const id = this.#idOf(bytes, slices.idStart, slices.idEnd)
    if (!isCounted) this.#tagNumber(1, 0)
    if (featureCount > 1) this.#tagNumber(2, featureCount)
    this.#features.end(id, type, geometry)
  }

  /** Adds a point that stands for `count` features, with the summary of each column in `summed`. */
  addCluster(geometry: TileGeometry, count: number, summaries: readonly CellSummary[] = []): void {
    this.#tagNumber(1, count)
    let name = this.#columns.length + OWN_NAMES
    for (const [column, types] of this.#summed.entries()) {
      for (const [i, type] of types.entries()) this.#tagValue(name++, summaries[column]?.[i] ?? null, type)
    }
    this.#features.end(-1, POINT, geometry)
  }

  /** The bytes of the whole tile. They are a copy. */
  finish(): Buffer {
    if (this.features === 0) return Buffer.alloc(0)
    const { ordered, firstNumbers } = numberValues(this.#values.slice(0, this.#keyCount))
    const features = this.#features.encode(firstNumbers)
    const content =
      2 +
      1 +
      varintLength(this.#name.length) +
      this.#name.length +
      features.length +
      this.#keyBytes.length +
      this.#valueBytes +
      1 +
      varintLength(EXTENT)
    const tile = Buffer.allocUnsafeSlow(1 + varintLength(content) + content)
    let at = 0
    tile[at++] = LAYER_TAG
    at = writeVarint(tile, at, content)
    tile[at++] = VERSION_TAG
    tile[at++] = 2
    tile[at++] = NAME_TAG
    at = writeVarint(tile, at, this.#name.length)
    at += this.#name.copy(tile, at)
    at += features.copy(tile, at)
    at += this.#keyBytes.bytes().copy(tile, at)
    for (const { encoded } of ordered) at += encoded.bytes().copy(tile, at)
    tile[at++] = EXTENT_TAG
    writeVarint(tile, at, EXTENT)
    return tile
  }

  #tagProperties(bytes: Buffer, start: number, end: number, columns: readonly number[]): void {
    const properties = this.#properties
    properties.locate(bytes, start, end)
    for (let at = 0; at < columns.length; at++) {
      const i = columns[at]!
      if (properties.isNull(bytes, i)) continue
      const { type } = this.#columns[i]!
      const isEscaped = properties.escaped[i] === 1
      this.#tag(i, bytes, properties.starts[i]!, properties.ends[i]!, type, isEscaped)
    }
  }

  /** Returns the id if MVT can hold it; any other becomes a property, and -1 is returned. */
  #idOf(bytes: Buffer, start: number, end: number): number {
    if (bytes[start] !== QUOTE && bytes[start] !== MINUS) {
      const id = parseNumber(bytes, start, end)
      if (Number.isSafeInteger(id)) return id
    }
    const isText = bytes[start] === QUOTE
    const isEscaped = isText && bytes.subarray(start, end).includes(BACKSLASH)
    const type = isText ? 'text' : 'integer'
    this.seen.hasId = true
    this.#tag(this.#columns.length, bytes, start, end, type, isEscaped)
    return -1
  }

  /** Adds one of our own properties: 1 is the count of points, 2 that of small features. */
  #tagNumber(own: 1 | 2, value: number): void {
    const text = Buffer.from(String(value), 'latin1')
    this.#tag(this.#columns.length + own, text, 0, text.length, 'integer', false)
  }

  #tagValue(name: number, value: CellSummary[number], type: ColumnType): void {
    if (value === null) return
    const text = Buffer.from(JSON.stringify(value))
    this.#tag(name, text, 0, text.length, type, text.includes(BACKSLASH))
  }

  #tag(
    column: number,
    bytes: Buffer,
    start: number,
    end: number,
    type: ColumnType,
    isEscaped: boolean,
  ): void {
    if (this.#keys[column] === -1) this.#addKey(column)
    if (end - start > MAX_SHORT_INTEGER && type === 'integer') this.#noteInteger(column, bytes, start, end)
    const key = this.#keys[column]!
    const values = this.#values[key]!
    const before = values.encoded.length
    this.#features.tag(key, values.number(bytes, start, end, type, isEscaped))
    this.#valueBytes += values.encoded.length - before
  }

  #noteInteger(column: number, bytes: Buffer, start: number, end: number): void {
    const { longIntegers } = this.seen
    const name = this.#names[column]!
    if (!longIntegers.has(name) && exceeds64Bits(BigInt(bytes.toString('latin1', start, end))))
      longIntegers.add(name)
  }

  #addKey(column: number): void {
    const name = Buffer.from(this.#names[column]!)
    this.#keyBytes.byte(KEY_TAG)
    this.#keyBytes.varint(name.length)
    this.#keyBytes.copy(name, 0, name.length)
    const key = this.#keyCount++
    this.#keys[column] = key
    if (key === this.#values.length) this.#values.push(new TileValues())
    this.#values[key]!.clear()
  }
}

/**
 * The order of the keys' values in the tile, and the number of each key's first value there. Keys with few values
 * come first, so that the many references to them are short.
 */
function numberValues(values: readonly TileValues[]): { ordered: TileValues[]; firstNumbers: Uint32Array } {
  const keys = values.map((_, key) => key).sort((a, b) => values[a]!.count - values[b]!.count)
  const firstNumbers = new Uint32Array(values.length)
  let next = 0
  for (const key of keys) {
    firstNumbers[key] = next
    next += values[key]!.count
  }
  return { ordered: keys.map((key) => values[key]!), firstNumbers }
}
