import { Worker } from 'node:worker_threads'
import { readFully } from '../../bytes/read-fully.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import type { ByteSpan, ReadableFile } from '../../snapshot/snapshot-files.ts'
import { errorOf } from '../../snapshot/thread-failure.ts'
import { READ_HEAD_BYTES, READ_STATES } from './remote-pack.ts'
import type {
  SelectedTile,
  SelectedTileReply,
  SelectedTileRequest,
  TileSnapshot,
} from './selected-tiles-thread.ts'

interface Waiting {
  resolve: (bytes: Uint8Array | null) => void
  reject: (error: unknown) => void
  /** The pack, if it is not in the folder. */
  pack: ReadableFile | null
  /** The first error of a read of the pack. */
  failure: unknown
}

/** Runs `SelectedTiles` in one thread, which is started with the first request and again if it ends. */
export class SelectedTilesInThread {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | null = null
  #last = 0

  /**
   * Opens a snapshot, so that its first tile does not wait for it. `isRemote` as for `encode` with a pack. Never
   * throws: the tile that needs the snapshot does.
   */
  async open(snapshot: TileSnapshot, isRemote: boolean): Promise<void> {
    await this.#ask({ ...snapshot, selected: null, isRemote }, null).catch(() => {})
  }

  /** `pack` is the pack if it is not in the folder; it stays open until the tile is made. */
  async encode(
    snapshot: TileSnapshot,
    selected: SelectedTile,
    pack: ReadableFile | null = null,
  ): Promise<Buffer> {
    const bytes = await this.#ask({ ...snapshot, selected, isRemote: pack !== null }, pack)
    return Buffer.from(bytes!)
  }

  #ask(request: Omit<SelectedTileRequest, 'number'>, pack: ReadableFile | null): Promise<Uint8Array | null> {
    const number = ++this.#last
    this.#worker ??= this.#start()
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>()
    this.#waiting.set(number, { resolve, reject, pack, failure: null })
    this.#worker.postMessage({ ...request, number } satisfies SelectedTileRequest)
    return promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./selected-tiles-thread.ts', import.meta.url))
    worker.unref()
    worker.on('message', (reply: SelectedTileReply) => {
      const waiting = this.#waiting.get(reply.number)
      if ('prefetch' in reply) return waiting?.pack?.prefetch?.(reply.prefetch)
      if ('read' in reply) return void readFor(waiting, reply.read, reply.target)
      this.#waiting.delete(reply.number)
      if ('bytes' in reply) waiting?.resolve(reply.bytes)
      else waiting?.reject(('failed' in reply.failure && waiting.failure) || errorOf(reply.failure))
    })
    const end = (error: Error) => {
      if (this.#worker === worker) this.#worker = null
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.once('error', end)
    worker.once('exit', () => end(new Error('the thread that makes tiles ended')))
    return worker
  }
}

/** Reads a part of the pack into the memory that the thread shares, and wakes the thread. */
async function readFor(
  waiting: Waiting | undefined,
  { from, to }: ByteSpan,
  target: SharedArrayBuffer,
): Promise<void> {
  const state = new Int32Array(target, 0, 1)
  let outcome: number = READ_STATES.failed
  try {
    const bytes = new Uint8Array(target, READ_HEAD_BYTES, to - from)
    if ((await readFully(waiting!.pack!, bytes, from)) < bytes.length)
      throw new DamagedSnapshotError(SNAPSHOT_FILES.pack, `${SNAPSHOT_FILES.pack} ends too early.`)
    outcome = READ_STATES.done
  } catch (error) {
    if (waiting) waiting.failure ??= error
  }
  Atomics.store(state, 0, outcome)
  Atomics.notify(state, 0)
}
