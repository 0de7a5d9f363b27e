import { open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { type FileStamp, hasSameContent, stampOf } from '../catalog/file-stamp.ts'
import { BufferPool, LARGE, SMALL } from './buffer-pool.ts'
import type { ExportFile, SendableFile } from './exports/export-file.ts'
import { KernelSender } from './kernel-sender.ts'
import type { ByteRange } from './range.ts'
import { RangeCheck } from './range-check.ts'

/** A client that accepts a piece within this time, in ms, is fast. */
const FAST_MS = 50

/**
 * The kernel buffers some megabytes for a client that reads nothing, so the client's speed shows only after
 * that many bytes.
 */
const WARM_UP = 8 << 20

/** Smaller parts fit into the buffer of the socket, and are not worth the calls. */
const KERNEL_BYTES = 1 << 20

const pool = new BufferPool()

/**
 * An export opened for sending. It is sent completely even if its version is removed in the meantime.
 *
 * See docs/decisions/own-download-sending.md.
 */
export interface OpenExport {
  file: ExportFile
  handle: SendableFile
}

/** Opens a file for sending. Returns null if it is gone or its stamp differs from the verified one. */
export async function openStamped(path: string, stamp: FileStamp): Promise<SendableFile | null> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!handle) return null
  if (stampOf(await handle.stat()) === stamp) {
    return {
      descriptor: handle.fd,
      read: (...range) => handle.read(...range),
      stat: () => handle.stat(),
      close: () => handle.close(),
      async requireUnchanged() {
        if (!hasSameContent(stamp, await handle.stat()))
          throw new Error(`${path} was changed while it was sent.`)
      },
    }
  }
  await handle.close()
  return null
}

/** Returns null if the file has to be looked up again. */
export async function openExport(file: ExportFile): Promise<OpenExport | null> {
  const handle = await file.open()
  return handle && { file, handle }
}

/**
 * Sends a range of head, file and tail, and ends the response. The kernel sends large files that need no check.
 * Of others, the next piece is read while the current one is being sent, for a fast client; a slow client holds
 * only one small buffer. Resolves when everything is
 * sent or the client has disconnected. Rejects if the file cannot be read, after aborting the response.
 */
export async function sendExport(
  { file, handle }: OpenExport,
  range: ByteRange,
  response: ServerResponse,
): Promise<void> {
  // If the client disconnected while the export was being built, no further `close` event is emitted.
  const whenClosed = response.destroyed
    ? Promise.resolve()
    : new Promise<void>((resolve) => response.once('close', resolve))
  try {
    const fileStart = file.head.length
    const fileEnd = fileStart + file.fileBytes
    if (range.start < fileStart) response.write(file.head.subarray(range.start, range.end))
    const from = Math.max(range.start, fileStart)
    const to = Math.min(range.end, fileEnd)
    if (from < to) {
      const bytes = file.fileBytes
      const check =
        file.checked && !file.checked.isVerified()
          ? await RangeCheck.start(handle, { ...file.checked, bytes }, from - fileStart)
          : null
      const part = { handle, from: from - fileStart, to: to - fileStart, check }
      await sendPart(part, response, whenClosed)
    }
    if (range.end > fileEnd)
      response.write(file.tail.subarray(Math.max(0, range.start - fileEnd), range.end - fileEnd))
    response.end()
    // Resolves only when the client has received everything or disconnected.
    await whenClosed
  } catch (error) {
    response.destroy()
    throw error
  } finally {
    await handle.close()
  }
}

interface FilePart {
  handle: SendableFile
  from: number
  to: number
  check: RangeCheck | null
}

async function sendPart(part: FilePart, response: ServerResponse, whenClosed: Promise<void>): Promise<void> {
  const { handle, from, to, check } = part
  const isLarge = to - from > KERNEL_BYTES
  const isForKernel = isLarge && check === null && handle.descriptor !== undefined
  const kernel = isForKernel ? await KernelSender.open(response) : null
  const pieces = new Pieces(part)
  try {
    let isFast = false
    let piece = await pieces.next(SMALL)
    while (piece && !response.destroyed) {
      const began = performance.now()
      const written = write(response, piece.buffer.subarray(0, piece.bytes))
      // Reads ahead only for fast clients, so that a slow one holds a single small buffer.
      const next = isFast ? pieces.next(LARGE) : null
      // Without a handler, a read that fails during the wait for the write would be an unhandled rejection and
      // end the process.
      next?.catch(() => {})
      await Promise.race([written, whenClosed])
      // A buffer can be reused once the kernel has its bytes; after a disconnect, the socket may still hold it.
      if (response.destroyed) pool.discard(piece.buffer)
      else pool.release(piece.buffer)
      if (kernel && !kernel.isVain && !response.destroyed) {
        // The end is left to the next piece: a socket that is full is waited for by writing to it.
        pieces.at += await kernel.send(handle.descriptor!, pieces.at, to - SMALL)
      } else isFast = performance.now() - began < FAST_MS && pieces.at - from > WARM_UP
      piece = await (next ?? pieces.next(isFast ? LARGE : SMALL))
    }
    if (piece) pool.release(piece.buffer)
  } finally {
    kernel?.close()
  }
}

/** Reads a part of a file piece by piece, and checks it. */
class Pieces {
  at: number
  readonly #part: FilePart

  constructor(part: FilePart) {
    this.#part = part
    this.at = part.from
  }

  /** Null at the end. */
  async next(size: typeof SMALL | typeof LARGE): Promise<{ buffer: Buffer; bytes: number } | null> {
    const { handle, to, check } = this.#part
    if (this.at >= to) return null
    const buffer = pool.take(size)
    try {
      const { bytesRead: bytes } = await handle.read(
        buffer,
        0,
        Math.min(buffer.length, to - this.at),
        this.at,
      )
      if (bytes === 0) throw new Error('an export file is shorter than its checksum says')
      check?.update(buffer.subarray(0, bytes))
      this.at += bytes
      if (this.at >= to) {
        await check?.end(to)
        await handle.requireUnchanged?.()
      }
      return { buffer, bytes }
    } catch (error) {
      pool.discard(buffer)
      throw error
    }
  }
}

function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => response.write(bytes, () => resolve()))
}
