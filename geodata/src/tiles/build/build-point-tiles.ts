import type { PointSet } from '../encode/point-cells.ts'
import { MAX_DEEPEST_BYTES } from '../encode/tile-limits.ts'
import { firstTileId, tileOf } from '../tile-id.ts'
import { endOfTile, keysPerTile, orderPoints } from './point-order.ts'
import { pointsIn, sparsePointsIn } from './points-in-tile.ts'
import type { TileBuild } from './tile-build.ts'
import { type BuiltZooms, type Partition, topTile } from './tile-plan.ts'

/** Builds the tiles of a partition of points, zoom by zoom. */
export async function buildPointTiles(
  build: TileBuild,
  partition: Partition,
  zooms: BuiltZooms,
): Promise<void> {
  if (!partition.isSubtree && partition.bytes > MAX_DEEPEST_BYTES)
    return addLargeTile(build, partition, zooms)
  const { maxZoom, cellZoom = -1 } = zooms
  const { index, pack, encoder, sizeOf } = build.source
  const { positions, xs, ys } = pointsIn(index, topTile(partition))
  pack.prefetch(positions)
  const count = positions.length
  const { order, keys } = orderPoints(xs, ys)
  const bytesOf = (point: number) => sizeOf(positions[point]!)
  const deepest = partition.isSubtree ? maxZoom : partition.z
  for (let z = partition.z; z <= deepest; z++) {
    const set: PointSet = { xs, ys, positions, order, bytesOf, hasCells: z <= cellZoom }
    for (let from = 0; from < count; ) {
      const to = endOfTile(keys, from, z)
      const at = Math.floor(keys[from]! / keysPerTile(z))
      build.add(z, at, encoder.points(tileOf(firstTileId(z) + at), set, from, to, z === maxZoom))
      if (build.isFull) {
        build.progress((z - partition.z + from / count) / (deepest - partition.z + 1))
        await build.room()
      }
      from = to
    }
  }
}

/** A tile with more points than are held in memory. It cannot show all of them at any zoom. */
function addLargeTile(build: TileBuild, partition: Partition, { maxZoom, cellZoom = -1 }: BuiltZooms): void {
  const { index, encoder, sizeOf } = build.source
  const { z } = partition
  const tile = topTile(partition)
  const sparse = sparsePointsIn(index, tile, z <= cellZoom)
  const { positions, order } = sparse
  const set: PointSet = { ...sparse, bytesOf: (point) => sizeOf(positions![point]!) }
  build.add(z, partition.index, encoder.points(tile, set, 0, order.length, z === maxZoom))
}
