import { readFully } from '../bytes/read-fully.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import type { ByteSpan, ReadableFile } from '../snapshot/snapshot-files.ts'
import type { SyncFile } from '../snapshot/sync-file.ts'

/** The states of a read, in the first four bytes of its shared memory. */
const WAITING = 0
const DONE = 1
const FAILED = 2
/** Where the bytes begin in the shared memory. */
const HEAD_BYTES = 8
/** After this time a thread that is to be ended is noticed, in ms. */
const WAIT_MS = 1000

/** What a thread asks of the one that reads a file for it. */
export type FileAsk = { prefetch: readonly ByteSpan[] } | { read: ByteSpan; target: SharedArrayBuffer }

/**
 * A file that another thread reads, for example from an object store. This thread has nothing else to do, so it
 * waits until the bytes are in shared memory.
 */
export class RemoteFile implements SyncFile {
  readonly #ask: (ask: FileAsk) => void
  #target = new SharedArrayBuffer(HEAD_BYTES)

  constructor(ask: (ask: FileAsk) => void) {
    this.#ask = ask
  }

  read(buffer: Buffer, from: number, to: number): void {
    const size = HEAD_BYTES + to - from
    if (this.#target.byteLength < size) this.#target = new SharedArrayBuffer(size)
    const target = this.#target
    const state = new Int32Array(target, 0, 1)
    Atomics.store(state, 0, WAITING)
    this.#ask({ read: { from, to }, target })
    while (Atomics.load(state, 0) === WAITING) Atomics.wait(state, 0, WAITING, WAIT_MS)
    // The other thread has the error.
    if (Atomics.load(state, 0) === FAILED) throw new Error('the file could not be read')
    buffer.set(new Uint8Array(target, HEAD_BYTES, to - from))
  }

  prefetch(spans: readonly ByteSpan[]): void {
    if (spans.length > 0) this.#ask({ prefetch: spans })
  }

  close(): void {}
}

/** In the other thread: has the bytes filled into the shared memory, and wakes the thread. Rejects if that fails. */
export async function replyToRead(
  { read: { from, to }, target }: Extract<FileAsk, { read: ByteSpan }>,
  fill: (bytes: Uint8Array, from: number) => Promise<void>,
): Promise<void> {
  const state = new Int32Array(target, 0, 1)
  let outcome = FAILED
  try {
    await fill(new Uint8Array(target, HEAD_BYTES, to - from), from)
    outcome = DONE
  } finally {
    Atomics.store(state, 0, outcome)
    Atomics.notify(state, 0)
  }
}

/** Fills bytes from a file of a snapshot. */
export async function fillFrom(
  file: ReadableFile,
  name: string,
  bytes: Uint8Array,
  from: number,
): Promise<void> {
  if ((await readFully(file, bytes, from)) < bytes.length)
    throw new DamagedSnapshotError(name, `${name} ends too early.`)
}
