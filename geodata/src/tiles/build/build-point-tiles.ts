import type { PointSet } from '../encode/point-cells.ts'
import { firstTileId, tileOf } from '../tile-id.ts'
import { projectPoints } from '../web-mercator.ts'
import { cellZoomOf, maxZoomOfPoints } from './choose-max-zoom.ts'
import { endOfTile, keysPerTile, orderPoints } from './point-order.ts'
import type { BuiltZooms, TileBuild } from './tile-build.ts'

/** Builds the tiles of a snapshot of points alone, zoom by zoom. */
export async function buildPointTiles(build: TileBuild): Promise<BuiltZooms> {
  const { tree, offsets, encoder } = build
  const count = tree.count
  const xs = new Uint32Array(count)
  const ys = new Uint32Array(count)
  projectPoints(tree.leaves!, 2, 0, count, xs, ys)
  const { order, keys } = orderPoints(xs, ys)
  const maxZoom = maxZoomOfPoints({ order, keys }, build.zoomLimit)
  const bytesOf = (position: number) => offsets[position + 1]! - offsets[position]!
  const cellZoom = cellZoomOf({ order, keys }, maxZoom, bytesOf)
  for (let z = 0; z <= maxZoom; z++) {
    const set: PointSet = { xs, ys, order, bytesOf, hasCells: z <= cellZoom }
    for (let from = 0; from < count; ) {
      const to = endOfTile(keys, from, z)
      const index = Math.floor(keys[from]! / keysPerTile(z))
      build.add(z, index, encoder.points(tileOf(firstTileId(z) + index), set, from, to, z === maxZoom))
      if (build.isFull) {
        build.progress((z + from / count) / (maxZoom + 1))
        await build.room()
      }
      from = to
    }
  }
  return { maxZoom, cellZoom }
}
