import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'

/** A part of a file: the bytes from `from` to `to` (exclusive). */
export interface ByteSpan {
  from: number
  to: number
}

/** A file that can be read at any position. A `FileHandle` is one. */
export interface ReadableFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  stat(): Promise<{ size: number }>
  close(): Promise<void>
  /**
   * The bytes between two offsets that are multiples of the size of a block, or the end of the file. They were
   * compared with the checksums of their blocks. Files on local disk do not have it.
   */
  readVerified?(from: number, to: number): Promise<Buffer>
  /** Starts fetching parts that will be read soon. Files on local disk do not have it. */
  prefetch?(spans: readonly ByteSpan[]): void
}

/** The files of one snapshot, on local disk or in an object store. */
export interface SnapshotFiles {
  /** The local folder that has the files named in a `fetch` once it resolves. */
  folder: string
  /** Whether `folder` has all files without a `fetch`. */
  isLocal: boolean
  /** Makes whole, verified copies of these files available in `folder`. */
  fetch(names: readonly string[]): Promise<void>
  /**
   * Opens a file for reading parts of it. Throws a DamagedSnapshotError if it is missing. `isSequential` says
   * that it is read from start to end, so that it is fetched ahead.
   */
  open(name: string, options?: { isSequential?: boolean }): Promise<ReadableFile>
}

/** The files of a snapshot that is a folder on local disk. */
export function folderFiles(folder: string): SnapshotFiles {
  return { folder, isLocal: true, fetch: async () => {}, open: (name) => openFile(folder, name) }
}

/** Opens a file of a snapshot for reading; throws a DamagedSnapshotError if it is missing. */
export async function openFile(folder: string, name: string) {
  return open(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? missingFile(name, error) : error
  })
}

export function missingFile(name: string, cause?: unknown): DamagedSnapshotError {
  return new DamagedSnapshotError(name, `${name} is missing.`, { cause })
}
