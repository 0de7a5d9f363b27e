import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * Integers as byte planes: all lowest bytes, then all second bytes, and so on. The high bytes of most columns
 * hardly vary, so a fast compressor removes them.
 */
export async function packPlanes(values: Uint32Array, width: number): Promise<Buffer> {
  const count = values.length
  const planes = Buffer.allocUnsafeSlow(count * width)
  for (let plane = 0; plane < width; plane++) {
    const shift = plane * 8
    const at = plane * count
    for (let i = 0; i < count; i++) planes[at + i] = values[i]! >>> shift
  }
  return packBytes(planes)
}

export async function packBytes(bytes: Uint8Array): Promise<Buffer> {
  return compress(bytes, LEVEL)
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
