import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { syncFolder } from '@wayleave/geodata/snapshot'
import { Problem } from '../../../base/problem.ts'
import { diskFull, requireFreeDisk } from '../../../base/storage/free-disk.ts'

/** After so many bytes it is looked again whether the disk has room. */
const DISK_STEP = 16 << 20

export interface UploadLimits {
  maxBytes: number
  /** What must be free on the disk, see `requireFreeDisk`. */
  minFreeBytes: number
  /** Called with the size of each part; returns why no more is taken, if so. */
  take?: (bytes: number) => Problem | null
}

/**
 * Streams an upload to disk and syncs it, so that an acknowledged upload survives a power cut. Beyond the limits it
 * stops reading and removes the file.
 */
export async function receiveUpload(
  source: NodeJS.ReadableStream,
  path: string,
  { maxBytes, minFreeBytes, take }: UploadLimits,
): Promise<number> {
  let bytes = 0
  let checkAt = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes)
        return done(new Problem('body-too-large', `The file is larger than ${maxBytes} bytes.`))
      const refusal = take?.(chunk.length)
      if (refusal) return done(refusal)
      if (bytes < checkAt) return done(null, chunk)
      checkAt = bytes + DISK_STEP
      requireFreeDisk(dirname(path), minFreeBytes).then(() => done(null, chunk), done)
    },
  })
  try {
    // The folder is private. The file may be read by all, so that the user of the sandbox needs no copy of it.
    await pipeline(source, bounded, createWriteStream(path, { flags: 'wx', mode: 0o644, flush: true }))
  } catch (error) {
    await rm(path, { force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw diskFull()
    // A client that disconnects midway is not a server error, and no client is left to read the response.
    if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
      throw new Problem('invalid-input', 'The file broke off before its end.', { cause: error })
    throw error
  }
  if (bytes === 0) {
    await rm(path, { force: true })
    throw new Problem(
      'invalid-input',
      'The body is empty: send the file as the body, or as the part "file" of a form.',
    )
  }
  await syncFolder(dirname(path))
  return bytes
}
