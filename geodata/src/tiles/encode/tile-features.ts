import { doubled } from '../../bytes/doubled.ts'
import { GrowingBytes, varintLength, writeVarint } from '../../bytes/growing-bytes.ts'
import type { TileGeometry, TileGeometryType } from '../tile-geometry.ts'

const FEATURE_TAG = 0x12
const ID_TAG = 0x08
const TAGS_TAG = 0x12
const TYPE_TAG = 0x18
const GEOMETRY_TAG = 0x22

/**
 * The features of a layer in the making. Their tags stay numbers until the end, because the number of a value in
 * the tile is known only when the values of all keys before it are.
 */
export class TileFeatures {
  count = 0
  #tagCount = 0
  /** Key and value in turn; values are numbered by key. */
  #tags = new Uint32Array(1024)
  #ids = new Float64Array(256)
  #tagEnds = new Uint32Array(256)
  #geometryEnds = new Uint32Array(256)
  /** The type and geometry of all features, encoded. */
  readonly #geometries = new GrowingBytes()
  readonly #encoded = new GrowingBytes()

  clear(): void {
    this.count = 0
    this.#tagCount = 0
    this.#geometries.length = 0
  }

  /** About the size of the encoded features. Tags count as two bytes, the rest of a feature as eight. */
  get size(): number {
    return this.#geometries.length + this.#tagCount * 2 + this.count * 8
  }

  /** Adds a property to the feature that `end` will add. */
  tag(key: number, value: number): void {
    if (this.#tagCount + 2 > this.#tags.length) this.#tags = doubled(this.#tags)
    this.#tags[this.#tagCount++] = key
    this.#tags[this.#tagCount++] = value
  }

  /** Adds a feature with the tags since the last one. An id of -1 is none. */
  end(id: number, type: TileGeometryType, { commands, length }: TileGeometry): void {
    if (this.count === this.#ids.length) this.#grow()
    let geometryBytes = 0
    for (let i = 0; i < length; i++) geometryBytes += varintLength(commands[i]!)
    const geometries = this.#geometries
    geometries.reserve(geometryBytes + 16)
    const { buffer } = geometries
    let at = geometries.length
    buffer[at++] = TYPE_TAG
    buffer[at++] = type
    buffer[at++] = GEOMETRY_TAG
    at = writeVarint(buffer, at, geometryBytes)
    for (let i = 0; i < length; i++) at = writeVarint(buffer, at, commands[i]!)
    geometries.length = at
    this.#ids[this.count] = id
    this.#tagEnds[this.count] = this.#tagCount
    this.#geometryEnds[this.count] = at
    this.count++
  }

  /**
   * All features, encoded, in memory that the next tile uses again. `firstNumbers` has the number of each key's
   * first value in the tile. It is called once for each tile, because it makes tags of the tile out of those by key.
   */
  encode(firstNumbers: Uint32Array): Buffer {
    const tags = this.#tags
    for (let i = 0; i < this.#tagCount; i += 2) tags[i + 1]! += firstNumbers[tags[i]!]!
    const encoded = this.#encoded
    encoded.length = 0
    let tagStart = 0
    let geometryStart = 0
    for (let feature = 0; feature < this.count; feature++) {
      const tagEnd = this.#tagEnds[feature]!
      const geometryEnd = this.#geometryEnds[feature]!
      this.#encodeFeature(this.#ids[feature]!, tagStart, tagEnd, geometryStart, geometryEnd)
      tagStart = tagEnd
      geometryStart = geometryEnd
    }
    return encoded.bytes()
  }

  #encodeFeature(
    id: number,
    tagStart: number,
    tagEnd: number,
    geometryStart: number,
    geometryEnd: number,
  ): void {
    const tags = this.#tags
    let tagBytes = 0
    for (let i = tagStart; i < tagEnd; i++) tagBytes += varintLength(tags[i]!)
    const size =
      (id >= 0 ? 1 + varintLength(id) : 0) +
      (tagBytes > 0 ? 1 + varintLength(tagBytes) + tagBytes : 0) +
      (geometryEnd - geometryStart)
    const encoded = this.#encoded
    encoded.reserve(size + 8)
    const { buffer } = encoded
    let at = encoded.length
    buffer[at++] = FEATURE_TAG
    at = writeVarint(buffer, at, size)
    if (id >= 0) {
      buffer[at++] = ID_TAG
      at = writeVarint(buffer, at, id)
    }
    if (tagBytes > 0) {
      buffer[at++] = TAGS_TAG
      at = writeVarint(buffer, at, tagBytes)
      for (let i = tagStart; i < tagEnd; i++) at = writeVarint(buffer, at, tags[i]!)
    }
    const geometries = this.#geometries.buffer
    for (let p = geometryStart; p < geometryEnd; p++) buffer[at++] = geometries[p]!
    encoded.length = at
  }

  #grow(): void {
    this.#ids = doubled(this.#ids)
    this.#tagEnds = doubled(this.#tagEnds)
    this.#geometryEnds = doubled(this.#geometryEnds)
  }
}
