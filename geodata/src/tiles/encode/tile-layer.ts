import { parseNumber } from '../../exports/geometry/geometry-bytes.ts'
import type { Column, ColumnType } from '../../feature.ts'
import { FeatureSlices } from '../../pack/pack-reader.ts'
import { PropertySlices } from '../../pack/property-slices.ts'
import { EXTENT } from '../web-mercator.ts'
import { GrowingBytes, varintLength, writeVarint } from './growing-bytes.ts'
import type { TileGeometry, TileGeometryType } from './tile-geometry.ts'
import { TileValues } from './tile-values.ts'

const LAYER_TAG = 0x1a
const NAME_TAG = 0x0a
const FEATURE_TAG = 0x12
const KEY_TAG = 0x1a
const EXTENT_TAG = 0x28
const VERSION_TAG = 0x78
const ID_TAG = 0x08
const TAGS_TAG = 0x12
const TYPE_TAG = 0x18
const GEOMETRY_TAG = 0x22

const QUOTE = 0x22
const MINUS = 0x2d

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
 */
export class TileLayer {
  features = 0
  readonly #name: Buffer
  readonly #columns: readonly Column[]
  readonly #names: string[]
  /** The number of each column's key in this tile, or -1. After the columns stand the names of our own. */
  readonly #keys: Int32Array
  readonly #slices = new FeatureSlices()
  readonly #properties: PropertySlices
  readonly #values = new TileValues()
  readonly #body = new GrowingBytes()
  readonly #keyBytes = new GrowingBytes()
  #keyCount = 0
  #tags: Uint32Array
  #tagCount = 0

  constructor(name: string, columns: readonly Column[]) {
    this.#name = Buffer.from(name)
    this.#columns = columns
    const own = ownProperties(columns)
    this.#names = [...columns.map((column) => column.name), own.id, own.pointCount, own.featureCount]
    this.#keys = new Int32Array(this.#names.length)
    this.#properties = new PropertySlices(columns)
    this.#tags = new Uint32Array(this.#names.length * 2)
    this.clear()
  }

  clear(): void {
    this.features = 0
    this.#values.clear()
    this.#body.length = 0
    this.#keyBytes.length = 0
    this.#keyCount = 0
    this.#keys.fill(-1)
  }

  /** The size of the tile so far, in bytes before compression. */
  get size(): number {
    return this.#body.length + this.#values.encoded.length
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
    this.#tagCount = 0
    const slices = this.#slices
    slices.locate(bytes, start, end)
    if (withProperties) this.#tagProperties(bytes, slices.propertiesStart, slices.propertiesEnd)
    const id = this.#idOf(bytes, slices.idStart, slices.idEnd)
    if (!isCounted) this.#tagNumber(1, 0)
    if (featureCount > 1) this.#tagNumber(2, featureCount)
    this.#write(id, type, geometry)
  }

  /** Adds a point that stands for `count` features. */
  addCluster(geometry: TileGeometry, count: number): void {
    this.#tagCount = 0
    this.#tagNumber(1, count)
    this.#write(-1, 1, geometry)
  }

  /** The bytes of the whole tile. They are a copy. */
  finish(): Buffer {
    if (this.features === 0) return Buffer.alloc(0)
    const content =
      2 +
      1 +
      varintLength(this.#name.length) +
      this.#name.length +
      this.#body.length +
      this.#keyBytes.length +
      this.#values.encoded.length +
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
    at += this.#body.bytes().copy(tile, at)
    at += this.#keyBytes.bytes().copy(tile, at)
    at += this.#values.encoded.bytes().copy(tile, at)
    tile[at++] = EXTENT_TAG
    writeVarint(tile, at, EXTENT)
    return tile
  }

  #tagProperties(bytes: Buffer, start: number, end: number): void {
    const properties = this.#properties
    properties.locate(bytes, start, end)
    for (let i = 0; i < this.#columns.length; i++) {
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
    const isEscaped = isText && bytes.subarray(start, end).includes(0x5c)
    const type = isText ? 'text' : 'integer'
    this.#tag(this.#columns.length, bytes, start, end, type, isEscaped)
    return -1
  }

  /** Adds one of our own properties: 1 is the count of points, 2 that of small features. */
  #tagNumber(own: 1 | 2, value: number): void {
    const text = Buffer.from(String(value), 'latin1')
    this.#tag(this.#columns.length + own, text, 0, text.length, 'integer', false)
  }

  #tag(key: number, bytes: Buffer, start: number, end: number, type: ColumnType, isEscaped: boolean): void {
    if (this.#keys[key] === -1) this.#addKey(key)
    this.#tags[this.#tagCount++] = this.#keys[key]!
    this.#tags[this.#tagCount++] = this.#values.number(bytes, start, end, type, isEscaped)
  }

  #addKey(key: number): void {
    const name = Buffer.from(this.#names[key]!)
    this.#keyBytes.byte(KEY_TAG)
    this.#keyBytes.varint(name.length)
    this.#keyBytes.copy(name, 0, name.length)
    this.#keys[key] = this.#keyCount++
  }

  #write(id: number, type: TileGeometryType, { commands, length }: TileGeometry): void {
    const tags = this.#tags
    let tagBytes = 0
    for (let i = 0; i < this.#tagCount; i++) tagBytes += varintLength(tags[i]!)
    let geometryBytes = 0
    for (let i = 0; i < length; i++) geometryBytes += varintLength(commands[i]!)
    const size =
      (id >= 0 ? 1 + varintLength(id) : 0) +
      (tagBytes > 0 ? 1 + varintLength(tagBytes) + tagBytes : 0) +
      2 +
      (1 + varintLength(geometryBytes) + geometryBytes)
    const body = this.#body
    body.reserve(size + 16)
    const { buffer } = body
    let at = body.length
    buffer[at++] = FEATURE_TAG
    at = writeVarint(buffer, at, size)
    if (id >= 0) {
      buffer[at++] = ID_TAG
      at = writeVarint(buffer, at, id)
    }
    if (tagBytes > 0) {
      buffer[at++] = TAGS_TAG
      at = writeVarint(buffer, at, tagBytes)
      for (let i = 0; i < this.#tagCount; i++) at = writeVarint(buffer, at, tags[i]!)
    }
    buffer[at++] = TYPE_TAG
    buffer[at++] = type
    buffer[at++] = GEOMETRY_TAG
    at = writeVarint(buffer, at, geometryBytes)
    for (let i = 0; i < length; i++) at = writeVarint(buffer, at, commands[i]!)
    body.length = at
    this.features++
  }
}
