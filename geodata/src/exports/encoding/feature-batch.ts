import type { PackBlock } from '../../pack/pack-reader.ts'
import type { FlatGeometry } from '../geometry/flat-geometry.ts'
import type { GrowingRoom } from './growing-room.ts'

/** Features of one block of the pack in the form of a format, one after the other. */
export interface EncodedFeatures {
  count: number
  bytes: Buffer
  /** The number of bytes of each feature. */
  lengths: Uint32Array
  /** West, south, east and north of each feature; inverted and infinite if it has no position. */
  boxes: Float64Array
  /** Only for formats that need them. */
  ids: Float64Array
}

/** Encodes the features of a block; the result is valid until the next call. */
export interface FeatureEncoder {
  encode(block: PackBlock): EncodedFeatures
}

const MIN_BYTES = 1 << 16

/** Collects encoded features. Its memory is reused, unless it was moved to another thread. */
export class FeatureBatch implements GrowingRoom {
  buffer: Buffer = Buffer.alloc(0)
  view: DataView = new DataView(this.buffer.buffer, 0, 0)
  at = 0
  #capacity = MIN_BYTES
  #count = 0
  #featureStart = 0
  #lengths = new Uint32Array(0)
  #boxes = new Float64Array(0)
  #ids = new Float64Array(0)

  /** Starts a batch of up to `count` features. */
  begin(count: number): void {
    if (this.buffer.length === 0) this.#replace(Buffer.allocUnsafeSlow(this.#capacity))
    this.at = this.#count = this.#featureStart = 0
    const features = Math.max(count, 1)
    if (this.#lengths.length >= features) return
    this.#lengths = new Uint32Array(features)
    this.#boxes = new Float64Array(features * 4)
    this.#ids = new Float64Array(features)
  }

  reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    this.#capacity = Math.max(this.#capacity * 2, this.at + bytes)
    const larger = Buffer.allocUnsafeSlow(this.#capacity)
    this.buffer.copy(larger, 0, 0, this.at)
    this.#replace(larger)
  }

  /** Ends a feature, whose bytes are those since the last one. */
  end({ west, south, east, north }: Box, id = 0): void {
    const i = this.#count++
    this.#lengths[i] = this.at - this.#featureStart
    this.#featureStart = this.at
    this.#boxes[i * 4] = west
    this.#boxes[i * 4 + 1] = south
    this.#boxes[i * 4 + 2] = east
    this.#boxes[i * 4 + 3] = north
    this.#ids[i] = id
  }

  finish(): EncodedFeatures {
    return {
      count: this.#count,
      bytes: this.buffer.subarray(0, this.at),
      lengths: this.#lengths,
      boxes: this.#boxes,
      ids: this.#ids,
    }
  }

  #replace(buffer: Buffer): void {
    this.buffer = buffer
    this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  }
}

type Box = Pick<FlatGeometry, 'west' | 'south' | 'east' | 'north'>
