import { readSync } from 'node:fs'

/** A file that can be read at any position, such as a `FileHandle`. */
interface Readable {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
}

/**
 * Fills `bytes` from a position of a file on. One call of `read` may return fewer bytes. Returns how many there
 * were: fewer than asked for only if the file ends before.
 */
export async function readFully(file: Readable, bytes: Uint8Array, position: number): Promise<number> {
  let at = 0
  while (at < bytes.length) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, position + at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return at
}

/** The same for a file descriptor, in a process or thread in which nothing else waits. */
export function readFullySync(file: number, bytes: Uint8Array, position: number): number {
  let at = 0
  while (at < bytes.length) {
    const bytesRead = readSync(file, bytes, at, bytes.length - at, position + at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return at
}
