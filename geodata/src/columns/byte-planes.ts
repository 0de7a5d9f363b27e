import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
/** With the default size of chunks, 16 KB, the event loop would get a callback for each of them. */
const COMPRESSION = { chunkSize: 1 << 20, params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Memory for byte planes, which is used again for the next column: new memory is slow to write at first. */
export class PlaneMemory {
  readonly #bytes: number
  readonly #isKept: boolean
  readonly #free: Buffer[] = []

  /** `bytes`: the max size of the planes of one section. `isKept`: whether memory may be held between columns. */
  constructor(bytes: number, isKept: boolean) {
    this.#bytes = bytes
    this.#isKept = isKept
  }

  /** Compresses planes that `write` fills; it has to fill all of them. */
  async pack(bytes: number, write: (planes: Buffer) => void): Promise<{ packed: Buffer; size: number }> {
    const [packed] = await this.packParts([bytes], write)
    return packed!
  }

  /** The same for parts of these sizes, one after the other, each of which is compressed for itself. */
  async packParts(
    sizes: readonly number[],
    write: (planes: Buffer) => void,
  ): Promise<{ packed: Buffer; size: number }[]> {
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#isKept ? this.#bytes : bytes)
    try {
      write(memory.subarray(0, bytes))
      const parts: { packed: Buffer; size: number }[] = []
      let at = 0
      for (const size of sizes) {
        parts.push({ packed: await packBytes(memory.subarray(at, at + size)), size })
        at += size
      }
      return parts
    } finally {
      if (this.#isKept) this.#free.push(memory)
    }
  }
}

/**
 * Writes integers as byte planes: all lowest bytes, then all second bytes, and so on, `width` of them. The high
 * bytes of most columns hardly vary, so a fast compressor removes them. `values` are some of the `count`
 * integers, from `from` on.
 */
export function splitIntoPlanes(
  values: Uint32Array,
  planes: Uint8Array,
  width: number,
  count: number,
  from: number,
): void {
  for (let plane = 0; plane + 1 < width; plane += 2) {
    const at = plane * count + from
    writeTwoPlanes(values, planes, at, at + count, plane * 8)
  }
  if (width % 2 === 1) writePlane(values, planes, (width - 1) * count + from, (width - 1) * 8)
}

/** Reads the values once for two planes, because reading them takes most of the time. */
function writeTwoPlanes(
  values: Uint32Array,
  planes: Uint8Array,
  at: number,
  next: number,
  shift: number,
): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]! >>> shift
    planes[at + i] = value
    planes[next + i] = value >>> 8
  }
}

function writePlane(values: Uint32Array, planes: Uint8Array, at: number, shift: number): void {
  for (let i = 0; i < values.length; i++) planes[at + i] = values[i]! >>> shift
}

export async function packBytes(bytes: Uint8Array): Promise<Buffer> {
  return compress(bytes, COMPRESSION)
}

/** Throws if the bytes are not exactly `size` bytes when decompressed. */
export async function unpackBytes(bytes: Uint8Array, size: number): Promise<Buffer> {
  // One chunk: with the default of 16 KB, the event loop would get a callback for each.
  const unpacked = await decompress(bytes, {
    chunkSize: Math.max(64, size),
    maxOutputLength: Math.max(1, size),
  })
  if (unpacked.length !== size) throw new Error('a section has another length than its directory says')
  return unpacked
}

/** The number of bytes that hold values up to `largest`. */
export function bytesFor(largest: number): number {
  return largest < 1 << 8 ? 1 : largest < 1 << 16 ? 2 : largest < 1 << 24 ? 3 : 4
}
