import { parentPort } from 'node:worker_threads'
import { PositionBits } from '../../pack/position-bits.ts'
import { failureOf, type ThreadFailure } from '../../snapshot/thread-failure.ts'
import { type FileAsk, RemoteFile } from '../../threads/remote-file.ts'
import type { TileAddress } from '../tile-id.ts'
import { SelectedTiles, type TileRules } from './selected-tiles.ts'
import type { TileSnapshot } from './tile-snapshot.ts'

export interface SelectedTile extends TileRules {
  tile: TileAddress
  /** The bytes of `PositionBits`. */
  positions: Uint8Array<SharedArrayBuffer>
}

/** The pool sends a thread the next request when it has replied to the one before. */
export interface TileRequest {
  /** The folder of the snapshot. */
  folder: string
  selected: SelectedTile
  /** Set if the thread does not have the snapshot open. */
  open: OpenOrder | null
  /** Folders of snapshots that are not needed any longer. */
  close: readonly string[]
}

interface OpenOrder {
  snapshot: TileSnapshot
  /** Whether the pool reads the pack, because it is not in the folder. */
  isRemote: boolean
  /** Max bytes of the pack that the thread keeps. */
  maxBytes: number
}

export type TileReply =
  /** Of the pack, see `RemoteFile`. */
  FileAsk | { bytes: Uint8Array } | { failure: ThreadFailure }

const openTiles = new Map<string, SelectedTiles>()

function send(reply: TileReply): void {
  parentPort!.postMessage(reply)
}

function close(folder: string): void {
  openTiles.get(folder)?.close()
  openTiles.delete(folder)
}

function encode({ folder, selected, open }: TileRequest): Uint8Array<ArrayBuffer> {
  if (open) {
    const pack = open.isRemote ? new RemoteFile(send) : null
    openTiles.set(folder, new SelectedTiles(open.snapshot, open.maxBytes, pack))
  }
  const { tile, positions, ...rules } = selected
  // A copy with memory of its own, which is handed over.
  return new Uint8Array(openTiles.get(folder)!.encode(tile, PositionBits.of(positions), rules))
}

parentPort!.on('message', (request: TileRequest) => {
  try {
    for (const folder of request.close) close(folder)
    const bytes = encode(request)
    parentPort!.postMessage({ bytes } satisfies TileReply, [bytes.buffer])
  } catch (error) {
    close(request.folder)
    send({ failure: failureOf(error) })
  }
})
