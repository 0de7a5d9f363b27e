import type { Column } from '../../feature.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { openIndexSync, type SyncIndex } from '../../snapshot/open-index-sync.ts'
import { LocalFile, type SyncFile } from '../../snapshot/sync-file.ts'
import { PackFile } from '../encode/feature-bytes.ts'
import { TileEncoder } from '../encode/tile-encoder.ts'

/** Blocks of the pack, of a megabyte each, that a thread keeps: more than the features of a partition. */
const MAX_BLOCKS = 40

/** What a thread needs to know to build tiles. */
export interface TileSourceOptions {
  /** The folder of the snapshot; null if the files are read by the process that has started this one. */
  folder: string | null
  table: string
  columns: readonly Column[]
}

/** An open snapshot from which one thread makes tiles. Its memory does not grow with the snapshot. */
export interface TileSource {
  index: SyncIndex
  pack: PackFile
  encoder: TileEncoder
  /** The size of a feature in the pack. */
  sizeOf(position: number): number
  close(): void
}

/** `openRemote` opens a file of a snapshot without a folder. */
export function openTileSource(
  { folder, table, columns }: TileSourceOptions,
  openRemote?: (name: string) => SyncFile,
): TileSource {
  const open = (name: string) => (folder === null ? openRemote!(name) : new LocalFile(folder, name))
  const index = openIndexSync(open(SNAPSHOT_FILES.index))
  const { rows, offsets } = index
  const pack = new PackFile(
    open(SNAPSHOT_FILES.pack),
    { rows, at: (position) => offsets.at(position) },
    { maxBlocks: MAX_BLOCKS },
  )
  const sizeOf = (position: number) => offsets.at(position + 1) - offsets.at(position)
  const encoder = new TileEncoder(table, columns, pack, sizeOf)
  const close = () => {
    pack.close()
    index.close()
  }
  return { index, pack, encoder, sizeOf, close }
}
