import { FeatureSlices } from '../../pack/pack-reader.ts'
import type { FeatureBytes } from './feature-bytes.ts'

/** Features of more bytes than this are held without their geometry. */
const LARGE_BYTES = 32 << 10
/** How many bytes are held at most, unless one feature has more. */
const MAX_HELD_BYTES = 1 << 20

const NULL = Buffer.from('null')

/**
 * Features for those who read only their ids and properties. A large feature has `null` as its geometry: many
 * tiles show it, and reading megabytes of coordinates for each of them takes longer than the rest.
 */
export class ShortFeatures implements FeatureBytes {
  bytes: Buffer = Buffer.alloc(0)
  start = 0
  end = 0
  readonly #source: FeatureBytes
  readonly #slices = new FeatureSlices()
  /** By position. */
  readonly #held = new Map<number, Buffer>()
  #heldBytes = 0

  constructor(source: FeatureBytes) {
    this.#source = source
  }

  seek(position: number): void {
    const held = this.#held.get(position)
    if (held !== undefined) {
      this.#show(held, 0, held.length)
      return
    }
    this.#source.seek(position)
    const { bytes, start, end } = this.#source
    if (end - start <= LARGE_BYTES) {
      this.#show(bytes, start, end)
      return
    }
    const short = this.#withoutGeometry(bytes, start, end)
    this.#hold(position, short)
    this.#show(short, 0, short.length)
  }

  #show(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes
    this.start = start
    this.end = end
  }

  #withoutGeometry(bytes: Buffer, start: number, end: number): Buffer {
    this.#slices.locate(bytes, start, end)
    const { geometryStart, geometryEnd } = this.#slices
    return Buffer.concat([bytes.subarray(start, geometryStart), NULL, bytes.subarray(geometryEnd, end)])
  }

  #hold(position: number, feature: Buffer): void {
    if (this.#heldBytes + feature.length > MAX_HELD_BYTES) {
      this.#held.clear()
      this.#heldBytes = 0
    }
    this.#held.set(position, feature)
    this.#heldBytes += feature.length
  }
}
