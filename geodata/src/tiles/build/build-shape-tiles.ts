import type { IndexTree } from '../../snapshot/index-tree.ts'
import { clipToTile, ShapeReader, tileBox } from '../encode/read-shapes.ts'
import { MAX_TILE_BYTES } from '../encode/tile-limits.ts'
import type { WorldBox } from '../shapes/clip-shape.ts'
import type { Shape } from '../shapes/shape.ts'
import { firstTileId, type TileAddress, tileOf } from '../tile-id.ts'
import { BUFFER, tileBounds } from '../web-mercator.ts'
import type { TileBuild } from './tile-build.ts'
import { type BuiltZooms, type Partition, topTile } from './tile-plan.ts'

/**
 * Builds the tiles of a partition with lines and polygons. In a subtree, the shapes of a tile are clipped from those of
 * the tile above it. A tile alone has too many features for memory: they are read while it is encoded.
 */
export async function buildShapeTiles(
  build: TileBuild,
  partition: Partition,
  { maxZoom }: BuiltZooms,
): Promise<void> {
  const { index, pack, encoder } = build.source
  const tile = topTile(partition)
  const reader = new ShapeReader(pack)
  const shapes = () => reader.inTile(positionsIn(index.tree, tile), tile)
  if (partition.isSubtree) {
    pack.prefetch([...positionsIn(index.tree, tile)])
    await descend({ build, top: tile.z, maxZoom, done: 0 }, tile, partition.index, [...shapes()])
  } else {
    build.add(tile.z, partition.index, encoder.shapes(tile, shapes, tile.z === maxZoom))
  }
}

interface Descent {
  build: TileBuild
  /** The zoom of the subtree's highest tile. */
  top: number
  maxZoom: number
  /** The share of the subtree that is finished. */
  done: number
}

/** The tile and those below it, from the shapes that it has. */
async function descend(
  state: Descent,
  tile: TileAddress,
  index: number,
  shapes: readonly Shape[],
): Promise<void> {
  const { build, maxZoom } = state
  const { z } = tile
  if (shapes.length === 0) return finished(state, z)
  const encoded = build.source.encoder.shapes(tile, () => shapes, z === maxZoom)
  build.add(z, index, encoded)
  if (build.isFull) await build.room()
  if (z === maxZoom) return finished(state, z)
  // A larger tile may be replaced by a coarser one, which the deepest zoom must not be.
  const isFinal = encoded.bytes.length <= MAX_TILE_BYTES && encoded.content.coarser === 0
  if (isFinal && shapes.every((shape) => covers(shape, tileBox(tile)))) {
    // Every tile below looks the same.
    for (let below = z + 1, run = 4; below <= maxZoom; below++, run *= 4)
      build.add(below, index * run, encoded, run)
    return finished(state, z)
  }
  for (let child = 0; child < 4; child++) {
    const below = tileOf(firstTileId(z + 1) + index * 4 + child)
    await descend(state, below, index * 4 + child, clipToTile(shapes, below))
  }
}

function finished(state: Descent, z: number): void {
  const before = Math.floor(state.done * 1000)
  state.done += 4 ** (state.top - z)
  if (Math.floor(state.done * 1000) > before) state.build.progress(state.done)
}

/** Whether a clipped polygon is the whole box. */
function covers({ ends, xy, minX, minY, maxX, maxY }: Shape, box: WorldBox): boolean {
  if (ends.length !== 1 || xy.length !== 8) return false
  if (minX !== box.minX || minY !== box.minY || maxX !== box.maxX || maxY !== box.maxY) return false
  for (let i = 0; i < 8; i += 2) {
    const isCorner = (xy[i] === minX || xy[i] === maxX) && (xy[i + 1] === minY || xy[i + 1] === maxY)
    if (!isCorner) return false
  }
  return true
}

/** The positions of all features whose boxes meet a tile. */
export function* positionsIn(tree: IndexTree, tile: TileAddress): Generator<number> {
  const walk = tree.walk(tileBounds(tile, BUFFER), 0)
  while (walk.next()) for (let position = walk.begin; position < walk.end; position++) yield position
}
