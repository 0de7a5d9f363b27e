import type { Geometry } from '../feature.ts'
import { hasZ, wkbSize, writeWkbInto } from '../geometry/wkb.ts'

/** A growing buffer that values are written to in Parquet's PLAIN encoding. Reused from chunk to chunk. */
export class ColumnBytes {
  #bytes: Buffer
  #view: DataView
  #length = 0

  constructor(capacity = 1 << 16) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.#bytes.buffer)
  }

  clear(): void {
    this.#length = 0
    // One giant feature must not hold its memory for the rest of the file.
    if (this.#bytes.length > 1 << 25) {
      this.#bytes = Buffer.allocUnsafeSlow(1 << 16)
      this.#view = new DataView(this.#bytes.buffer)
    }
  }

  /** Valid until the next `clear` or write. */
  data(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }

  double(value: number): void {
    this.#room(8)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  int64(value: number | bigint): void {
    this.#room(8)
    if (typeof value === 'bigint') this.#view.setBigInt64(this.#length, value, true)
    else {
      const high = Math.floor(value / 4294967296)
      this.#view.setInt32(this.#length, value - high * 4294967296, true)
      this.#view.setInt32(this.#length + 4, high, true)
    }
    this.#length += 8
  }

  text(value: string): void {
    const length = value.length
    // UTF-8 needs at most three bytes for a UTF-16 unit.
    this.#room(4 + length * 3)
    const start = this.#length + 4
    let size = length
    if (length > 40) size = this.#bytes.write(value, start)
    else {
      // A native call costs more than writing a short text of ASCII here.
      const bytes = this.#bytes
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i)
        if (code > 127) {
          size = bytes.write(value, start)
          break
        }
        bytes[start + i] = code
      }
    }
    this.#view.setUint32(this.#length, size, true)
    this.#length = start + size
  }

  geometry(geometry: Geometry): void {
    const withZ = hasZ(geometry)
    const size = wkbSize(geometry, withZ)
    this.#room(4 + size)
    this.#view.setUint32(this.#length, size, true)
    writeWkbInto(geometry, this.#view, this.#length + 4, withZ)
    this.#length += 4 + size
  }
}
