import { parentPort } from 'node:worker_threads'
import { PositionBits } from '../../pack/position-bits.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import type { ByteSpan } from '../../snapshot/snapshot-files.ts'
import { failureOf, type ThreadFailure } from '../../snapshot/thread-failure.ts'
import type { TileAddress } from '../tile-id.ts'
import { RemotePack } from './remote-pack.ts'
import { SelectedTiles } from './selected-tiles.ts'

/** A snapshot whose tiles are requested. */
export interface TileSnapshot {
  folder: string
  table: string
  manifest: Manifest
}

export interface SelectedTile {
  tile: TileAddress
  /** The bytes of `PositionBits`. */
  positions: Uint8Array<SharedArrayBuffer>
  isDeepest: boolean
}

export interface SelectedTileRequest extends TileSnapshot {
  number: number
  /** Null to open the snapshot only. */
  selected: SelectedTile | null
  /** Whether the pack is read by the thread that asks, because it is not in the folder. */
  isRemote: boolean
}

export type SelectedTileReply =
  /** Parts of the pack that will be read soon. */
  | { number: number; prefetch: readonly ByteSpan[] }
  /** A part of the pack that this thread waits for; see `RemotePack`. */
  | { number: number; read: ByteSpan; target: SharedArrayBuffer }
  /** The tile; null if the snapshot was to be opened only. */
  | { number: number; bytes: Uint8Array | null }
  | { number: number; failure: ThreadFailure }

/** How many snapshots stay open; an index takes about 33 bytes for each feature. */
const MAX_OPEN = 4

/** In LRU order, least recently used first. */
const open = new Map<string, SelectedTiles>()
/** The number of the request under way. */
let current = 0

async function tilesOf({ folder, table, manifest, isRemote }: SelectedTileRequest): Promise<SelectedTiles> {
  const openTiles = open.get(folder)
  const pack = isRemote ? new RemotePack((ask) => send({ number: current, ...ask })) : null
  const tiles = openTiles ?? (await SelectedTiles.open(folder, table, manifest, pack))
  open.delete(folder)
  open.set(folder, tiles)
  for (const [oldest, other] of open) {
    if (open.size <= MAX_OPEN) break
    open.delete(oldest)
    other.close()
  }
  return tiles
}

function send(reply: SelectedTileReply): void {
  parentPort!.postMessage(reply)
}

async function reply(request: SelectedTileRequest): Promise<SelectedTileReply> {
  const { number, selected } = request
  current = number
  try {
    const tiles = await tilesOf(request)
    if (selected === null) return { number, bytes: null }
    const { tile, positions, isDeepest } = selected
    return { number, bytes: tiles.encode(tile, PositionBits.of(positions), isDeepest) }
  } catch (error) {
    open.delete(request.folder)
    return { number, failure: failureOf(error) }
  }
}

let queue: Promise<unknown> = Promise.resolve()
parentPort!.on('message', (request: SelectedTileRequest) => {
  queue = queue.then(async () => send(await reply(request)))
})
