import type { ByteSpan } from '../../snapshot/snapshot-files.ts'
import type { PackBytes } from '../encode/feature-bytes.ts'

/** The states of a read, in the first four bytes of its shared memory. */
export const READ_STATES = { waiting: 0, done: 1, failed: 2 } as const
/** Where the bytes begin in the shared memory. */
export const READ_HEAD_BYTES = 8
/** After this time a thread that is to be ended is noticed, in ms. */
const WAIT_MS = 1000

type Ask = { prefetch: readonly ByteSpan[] } | { read: ByteSpan; target: SharedArrayBuffer }

/**
 * A pack that another thread reads, for example from an object store. This thread has nothing else to do, so it
 * waits until the bytes are in shared memory.
 */
export class RemotePack implements PackBytes {
  readonly #ask: (ask: Ask) => void
  #target = new SharedArrayBuffer(READ_HEAD_BYTES)

  constructor(ask: (ask: Ask) => void) {
    this.#ask = ask
  }

  read(buffer: Buffer, from: number, to: number): void {
    const size = READ_HEAD_BYTES + to - from
    if (this.#target.byteLength < size) this.#target = new SharedArrayBuffer(size)
    const target = this.#target
    const state = new Int32Array(target, 0, 1)
    Atomics.store(state, 0, READ_STATES.waiting)
    this.#ask({ read: { from, to }, target })
    while (Atomics.load(state, 0) === READ_STATES.waiting)
      Atomics.wait(state, 0, READ_STATES.waiting, WAIT_MS)
    // The other thread has the error.
    if (Atomics.load(state, 0) === READ_STATES.failed) throw new Error('the pack could not be read')
    buffer.set(new Uint8Array(target, READ_HEAD_BYTES, to - from))
  }

  prefetch(spans: readonly ByteSpan[]): void {
    if (spans.length > 0) this.#ask({ prefetch: spans })
  }

  close(): void {}
}
