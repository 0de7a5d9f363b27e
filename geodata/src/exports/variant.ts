import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import { ByteSink } from './byte-sink.ts'
import { type BuiltFile, writeAtomically } from './write-atomically.ts'
import { deflateFile } from './zip/deflate-blocks.ts'

/** The content codings in which a file is also stored. */
export type Variant = 'gzip' | 'zstd'

export function variantPath(path: string, variant: Variant): string {
  return `${path}.${variant === 'gzip' ? 'gz' : 'zst'}`
}

/** Compresses a finished export to `variantPath`. Deterministic: equal files give equal bytes. */
export function buildVariant(path: string, variant: Variant, signal?: AbortSignal): Promise<BuiltFile> {
  return writeAtomically(variantPath(path, variant), (partial) =>
    variant === 'gzip' ? writeGzip(path, partial, signal) : writeZstd(path, partial, signal),
  )
}

/** RFC 1952, without a name and a time; the operating system is "unknown". */
const GZIP_HEAD = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

async function writeGzip(path: string, partial: string, signal?: AbortSignal): Promise<string | undefined> {
  const sink = new ByteSink(partial)
  try {
    sink.write(GZIP_HEAD)
    const { crc, bytes } = await deflateFile(path, (compressed) => sink.write(compressed), signal)
    const tail = Buffer.alloc(8)
    tail.writeUInt32LE(crc, 0)
    tail.writeUInt32LE(bytes % 2 ** 32, 4)
    sink.write(tail)
    return sink.close()
  } finally {
    sink.abandon()
  }
}

async function writeZstd(path: string, partial: string, signal?: AbortSignal): Promise<undefined> {
  const compress = createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: 3,
      [constants.ZSTD_c_checksumFlag]: 1,
      // RFC 9659: a receiver is not required to support a window of more than 8 MB.
      [constants.ZSTD_c_windowLog]: 23,
    },
  })
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), compress, createWriteStream(partial), {
    signal,
  })
}
