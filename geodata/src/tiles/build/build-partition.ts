import { PartitionWriter } from '../archive/partition-file.ts'
import { buildPointTiles } from './build-point-tiles.ts'
import { buildShapeTiles } from './build-shape-tiles.ts'
import { TileBuild, type TileBuildDeps } from './tile-build.ts'
import type { BuiltZooms, Partition } from './tile-plan.ts'
import type { TileSource } from './tile-source.ts'

/** A partition that is to be built. */
export interface PartitionOrder {
  partition: Partition
  zooms: BuiltZooms
  /** The file for its tiles. */
  path: string
}

/** Builds the tiles of a partition and writes them to its file. */
export async function buildPartition(
  source: TileSource,
  { partition, zooms, path }: PartitionOrder,
  options: Pick<TileBuildDeps, 'onProgress' | 'signal'> = {},
): Promise<void> {
  const writer = new PartitionWriter(path)
  try {
    const build = new TileBuild({ source, writer, ...options })
    const buildTilesOf = source.index.tree.isPoints ? buildPointTiles : buildShapeTiles
    await buildTilesOf(build, partition, zooms)
    await build.finish()
    await writer.finish(source.encoder.seenProperties)
  } finally {
    writer.abandon()
  }
}
