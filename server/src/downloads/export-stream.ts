import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ExportFile } from './export-file.ts'
import type { ByteRange } from './range.ts'

/** Small enough that ten thousand slow readers are cheap, large enough to keep one fast reader busy. */
const CHUNK = 128 * 1024

/**
 * A range of head, file and tail as one stream. Reads happen when the reader wants more, one at a time; the
 * file stays open, so a version that is removed meanwhile is still sent whole.
 */
export async function streamExport(
  file: ExportFile,
  { start, end }: ByteRange,
  onFailure: (error: Error) => void,
): Promise<Readable> {
  const handle = await open(file.path)
  const fileEnd = file.head.length + file.fileBytes
  let at = start

  async function next(): Promise<Buffer | null> {
    if (at >= end) return null
    const from = at
    if (from < file.head.length) {
      at = Math.min(end, file.head.length)
      return file.head.subarray(from, at)
    }
    if (from < fileEnd) {
      const wanted = Math.min(CHUNK, end - from, fileEnd - from)
      const chunk = await readChunk(handle, from - file.head.length, wanted)
      at += chunk.length
      return chunk
    }
    at = end
    return file.tail.subarray(from - fileEnd, end - fileEnd)
  }

  return new Readable({
    highWaterMark: CHUNK,
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error: Error) => {
          // A reader that leaves closes the file under a read: that is no failure of ours.
          if (!this.destroyed) onFailure(error)
          this.destroy(error)
        },
      )
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (failure: Error) => done(error ?? failure),
      )
    },
  })
}

async function readChunk(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const chunk = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await handle.read(chunk, 0, length, position)
  if (bytesRead === 0) throw new Error('an export file is shorter than its checksum says')
  return bytesRead === length ? chunk : chunk.subarray(0, bytesRead)
}
