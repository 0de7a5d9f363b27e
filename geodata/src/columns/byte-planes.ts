import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * Writes integers as byte planes: all lowest bytes, then all second bytes, and so on, as many as there is room
 * for. The high bytes of most columns hardly vary, so a fast compressor removes them.
 */
export function splitIntoPlanes(values: Uint32Array, planes: Uint8Array): void {
  const count = values.length
  const width = count === 0 ? 0 : planes.length / count
  for (let plane = 0; plane + 1 < width; plane += 2) writeTwoPlanes(values, planes, plane * count, plane * 8)
  if (width % 2 === 1) writePlane(values, planes, (width - 1) * count, (width - 1) * 8)
}

/** Reads the values once for two planes, because reading them takes most of the time. */
function writeTwoPlanes(values: Uint32Array, planes: Uint8Array, at: number, shift: number): void {
  const next = at + values.length
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
