import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { readFullySync } from '../bytes/read-fully.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import type { ByteSpan } from './snapshot-files.ts'

/** A file of a snapshot that a process or thread reads synchronously, because it does nothing else. */
export interface SyncFile {
  /** Fills the buffer with the bytes from `from` to `to` (exclusive). */
  read(buffer: Buffer, from: number, to: number): void
  /** Starts fetching parts that will be read soon, if that takes long. */
  prefetch?(spans: readonly ByteSpan[]): void
  close(): void
}

/** A file on local disk. */
export class LocalFile implements SyncFile {
  readonly #name: string
  readonly #file: number

  constructor(folder: string, name: string) {
    this.#name = name
    this.#file = openSync(join(folder, name), 'r')
  }

  read(buffer: Buffer, from: number, to: number): void {
    if (readFullySync(this.#file, buffer.subarray(0, to - from), from) < to - from)
      throw new DamagedSnapshotError(this.#name, `${this.#name} ends too early.`)
  }

  close(): void {
    closeSync(this.#file)
  }
}
