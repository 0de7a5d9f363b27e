import type { PositionBits } from '../../pack/position-bits.ts'
import { CHECKED_BLOCK_BYTES } from '../../snapshot/block-checksums.ts'
import { IndexTree } from '../../snapshot/index-tree.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { LocalFile, type SyncFile } from '../../snapshot/sync-file.ts'
import { positionsIn } from '../build/build-shape-tiles.ts'
import type { TileColumn } from '../encode/cell-values.ts'
import { compressTileSync } from '../encode/compress-tile.ts'
import { PackFile, packOffsets } from '../encode/feature-bytes.ts'
import type { PointSet } from '../encode/point-cells.ts'
import { ShapeReader } from '../encode/read-shapes.ts'
import { TileEncoder } from '../encode/tile-encoder.ts'
import type { TileAddress } from '../tile-id.ts'
import { BUFFER, tileBounds, WORLD_BITS } from '../web-mercator.ts'
import { type Places, placesOf } from './tile-places.ts'
import type { TileSnapshot } from './tile-snapshot.ts'

/**
 * A dense tile shows the features that are alone in their cells if they lie in at most so many megabytes of the pack;
 * otherwise it counts them too. In a bucket, each megabyte is a request.
 */
const MAX_MEGABYTES_OF_DENSE = 64

/** What is read of a pack in a bucket at once; of one on disk, as little as has a checksum: a tile shows a small part. */
const REMOTE_BLOCK_BYTES = 1 << 20

/** What the tile of an archive knows from the build. */
export interface TileRules {
  isDeepest: boolean
  /** See `PointSet.hasCells`. */
  hasCells?: boolean | undefined
  /** The columns that points which stand for several features sum up. */
  summed?: readonly TileColumn[] | undefined
}

/** From this zoom on, the points of a tile are found by the tree: it has a small part of a world of points. */
const BY_TREE_ZOOM = 3

/**
 * Makes tiles of selected features of a snapshot, by the same rules as the tiles of its archive, except that dense
 * tiles read a bounded part of the pack. It reads and computes synchronously, so it runs in a thread of its own.
 */
export class SelectedTiles {
  readonly #tree: IndexTree
  readonly #offsets: Uint32Array | Float64Array
  readonly #source: PackFile
  readonly #encoder: TileEncoder
  readonly #shapes: ShapeReader
  /** Where the points are; null if the snapshot has other geometries. */
  readonly #places: Places | null

  /** Keeps up to `maxBytes` of the pack. `pack` is the pack if it is not in the folder. */
  constructor(snapshot: TileSnapshot, maxBytes: number, pack: SyncFile | null = null) {
    const { table, columns, offsets, places } = snapshot
    this.#tree = IndexTree.of(snapshot.leaves, snapshot.isPoints, snapshot.nodes)
    this.#places = places && placesOf(snapshot, places)
    this.#offsets = offsets
    const source = pack ?? new LocalFile(snapshot.folder, SNAPSHOT_FILES.pack)
    const blockBytes = pack ? REMOTE_BLOCK_BYTES : CHECKED_BLOCK_BYTES
    this.#source = new PackFile(source, packOffsets(offsets), {
      checksums: snapshot.packBlocks,
      blockBytes,
      maxBlocks: Math.max(1, Math.floor(maxBytes / blockBytes)),
    })
    this.#shapes = new ShapeReader(this.#source)
    this.#encoder = new TileEncoder(table, columns, this.#source, (position) => this.#sizeOf(position))
  }

  /** The gzipped tile of the features at `positions`; empty if it shows none of them. */
  encode(tile: TileAddress, positions: PositionBits, { isDeepest, hasCells, summed }: TileRules): Buffer {
    this.#encoder.summed = summed ?? []
    const encoded = this.#places
      ? this.#encodePoints(tile, positions, { isDeepest, hasCells }, this.#places)
      : this.#encodeShapes(tile, positions, isDeepest)
    return encoded.bytes.length === 0 ? encoded.bytes : compressTileSync(encoded).bytes
  }

  close(): void {
    this.#source.close()
  }

  #encodePoints(
    tile: TileAddress,
    positions: PositionBits,
    { isDeepest, hasCells }: TileRules,
    places: Places,
  ) {
    const { xs, ys } = places
    const order = this.#pointsIn(tile, positions, places)
    const set: PointSet = {
      xs,
      ys,
      order,
      bytesOf: (position) => this.#sizeOf(position),
      ...(hasCells !== undefined && { hasCells }),
      mayRead: (points) => this.#source.areWithinMegabytes(points, MAX_MEGABYTES_OF_DENSE),
    }
    return this.#encoder.points(tile, set, 0, order.length, isDeepest)
  }

  /** The selected points in the tile. A selection may have millions, so the loop has no branches. */
  #pointsIn(tile: TileAddress, positions: PositionBits, { xs, ys }: Places): Uint32Array {
    const { z, x, y } = tile
    const located = z < BY_TREE_ZOOM ? positions.listBelow(this.#tree.count) : this.#near(tile, positions)
    if (z === 0) return located
    const shift = WORLD_BITS - z
    let count = 0
    for (let i = 0; i < located.length; i++) {
      const position = located[i]!
      located[count] = position
      count += Number((((xs[position]! >>> shift) ^ x) | ((ys[position]! >>> shift) ^ y)) === 0)
    }
    return located.subarray(0, count)
  }

  #near(tile: TileAddress, positions: PositionBits): Uint32Array {
    const walk = this.#tree.walk(tileBounds(tile, BUFFER), 0)
    const near: number[] = []
    while (walk.next())
      for (let position = walk.begin; position < walk.end; position++)
        if (positions.has(position)) near.push(position)
    return Uint32Array.from(near)
  }

  #encodeShapes(tile: TileAddress, positions: PositionBits, isDeepest: boolean) {
    const chosen: number[] = []
    for (const position of positionsIn(this.#tree, tile)) {
      if (positions.has(position)) chosen.push(position)
    }
    this.#source.prefetch(chosen)
    return this.#encoder.shapes(tile, () => this.#shapes.inTile(chosen, tile), isDeepest)
  }

  #sizeOf(position: number): number {
    return this.#offsets[position + 1]! - this.#offsets[position]!
  }
}
