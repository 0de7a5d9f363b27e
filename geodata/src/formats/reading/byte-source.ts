import { createReadStream, type ReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { SourceError } from '../../source-error.ts'
import { megabytes, type SourceLimits } from './source-limits.ts'

/** Bytes that are read once, sequentially, and decompressed if they were compressed. */
export interface ByteSource {
  /** The file name for messages. */
  readonly file: string
  readonly bytes: AsyncIterable<Uint8Array>
  /** The total number of bytes, if known. */
  readonly totalBytes: number | null
}

const PIECE_BYTES = 1 << 19
/** How long to wait for the next bytes of a file that is still being written. */
const GROWTH_MS = 20

export async function fileSource(path: string, file: string): Promise<ByteSource> {
  const { size } = await stat(path)
  return { file, bytes: readStream(path, size), totalBytes: size }
}

/** Reads the bytes that a file had when it was opened: one that grows while it is read has no end otherwise. */
function readStream(path: string, size: number): ReadStream {
  // `end` is inclusive, and an empty file has no last byte.
  return createReadStream(path, { highWaterMark: PIECE_BYTES, end: Math.max(0, size - 1) })
}

/** A file that is still being written. Only its reader can tell where it ends. */
export function growingSource(path: string, file: string): ByteSource {
  return { file, bytes: readGrowing(path), totalBytes: null }
}

async function* readGrowing(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path)
  try {
    for (;;) {
      const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
      let length = 0
      let hasWaited = false
      // Whole pieces while the file is ahead; what is there, once it does not grow.
      while (length < PIECE_BYTES && !(hasWaited && length > 0)) {
        const { bytesRead } = await handle.read(piece, length, PIECE_BYTES - length)
        length += bytesRead
        hasWaited = bytesRead === 0
        if (hasWaited) await sleep(GROWTH_MS)
      }
      yield piece.subarray(0, length)
    }
  } finally {
    await handle.close()
  }
}

/** The content of a file that was compressed as a whole. */
export function decompressedSource(
  path: string,
  file: string,
  compression: 'gzip' | 'zstd',
  limits: SourceLimits,
): ByteSource {
  return { file, bytes: decompress(path, file, compression, limits), totalBytes: null }
}

async function* decompress(
  path: string,
  file: string,
  compression: 'gzip' | 'zstd',
  limits: SourceLimits,
): AsyncGenerator<Uint8Array> {
  const compressed = readStream(path, (await stat(path)).size)
  const create = compression === 'gzip' ? createGunzip : createZstdDecompress
  const unzip = create({ chunkSize: PIECE_BYTES })
  compressed.on('error', (error) => unzip.destroy(error))
  const bound = new DecompressionBound(file, limits)
  try {
    for await (const piece of compressed.pipe(unzip) as AsyncIterable<Buffer>) {
      bound.add(piece.length, compressed.bytesRead)
      yield piece
    }
  } catch (error) {
    if (error instanceof SourceError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new SourceError(
      code === 'Z_BUF_ERROR'
        ? `${file} ends too early: its compressed data is cut off after ${bound.bytes} bytes of content.`
        : `${file} cannot be decompressed after ${bound.bytes} bytes of content: it is damaged.`,
    )
  } finally {
    compressed.destroy()
    unzip.destroy()
  }
}

/** Counts the bytes decompressed from a file and aborts at the limits (protection against zip bombs). */
export class DecompressionBound {
  bytes = 0
  readonly #file: string
  readonly #limits: SourceLimits

  constructor(file: string, limits: SourceLimits) {
    this.#file = file
    this.#limits = limits
  }

  add(bytes: number, compressedBytes: number): void {
    this.bytes += bytes
    const { decompressedBytes, compressionRatio, ratioFreeBytes } = this.#limits
    if (this.bytes > decompressedBytes)
      throw new SourceError(`${this.#file} decompresses to more than ${megabytes(decompressedBytes)}.`)
    if (this.bytes > ratioFreeBytes && this.bytes > compressedBytes * compressionRatio)
      throw new SourceError(
        `${this.#file} decompresses to more than ${compressionRatio} times its size, the limit of WAYLEAVE_MAX_EXPANSION: it is refused as a decompression bomb.`,
      )
  }
}

/** Returns the first bytes (all if there are fewer), and a source that still begins with them. */
export async function peek(source: ByteSource, bytes: number): Promise<[Buffer, ByteSource]> {
  const iterator = source.bytes[Symbol.asyncIterator]()
  const pieces: Uint8Array[] = []
  let length = 0
  while (length < bytes) {
    const { value, done } = await iterator.next()
    if (done) break
    pieces.push(value)
    length += value.length
  }
  const head = Buffer.concat(pieces)
  // Not a generator, because a generator that is abandoned before its first step would leave the file open.
  let isHeadDue = head.length > 0
  const again: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => again,
    async next() {
      if (!isHeadDue) return iterator.next()
      isHeadDue = false
      return { value: head, done: false }
    },
    async return() {
      await iterator.return?.()
      return { value: undefined, done: true }
    },
  }
  return [head, { file: source.file, totalBytes: source.totalBytes, bytes: again }]
}
