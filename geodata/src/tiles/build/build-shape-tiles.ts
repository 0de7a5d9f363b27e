import type { IndexTree } from '../../snapshot/index-tree.ts'
import { clipToTile, ShapeReader, tileBox } from '../encode/read-shapes.ts'
import { MAX_TILE_BYTES } from '../encode/tile-limits.ts'
import type { WorldBox } from '../shapes/clip-shape.ts'
import type { Shape } from '../shapes/shape.ts'
import { POINT } from '../tile-geometry.ts'
import { firstTileId, type TileAddress, tileOf } from '../tile-id.ts'
import { BUFFER, tileBounds } from '../web-mercator.ts'
import { maxZoomOfShapes, type ShapeSample } from './choose-max-zoom.ts'
import type { BuiltZooms, TileBuild } from './tile-build.ts'

/** Up to this many bytes of the pack, the features of a tile are held in memory for all tiles below it. */
const MAX_HELD_BYTES = 24 << 20
const SAMPLED_FEATURES = 1000
const SAMPLED_BYTES = 8 << 20
/** Max positions of one feature, so that a feature of a million positions does not decide alone. */
const SAMPLED_POSITIONS = 500

/**
 * Builds the tiles of a snapshot with lines and polygons. The shapes of a tile are clipped from those of the tile
 * above it. Where a tile has too many features for memory, they are read once for it and again for each of the
 * four below.
 */
export async function buildShapeTiles(build: TileBuild): Promise<BuiltZooms> {
  const reader = new TileReader(build)
  const maxZoom = maxZoomOfShapes(sample(build, reader), build.zoomLimit)
  await visit({ build, reader, maxZoom, done: 0 }, 0, 0)
  return { maxZoom }
}

interface Visit {
  build: TileBuild
  reader: TileReader
  maxZoom: number
  /** The share of the world that is finished. */
  done: number
}

/** Tile `index` of zoom `z`, and those below it, from the pack. */
async function visit(state: Visit, z: number, index: number): Promise<void> {
  const { build, reader, maxZoom } = state
  const tile = tileOf(firstTileId(z) + index)
  const bytes = reader.bytesIn(tile)
  if (bytes > 0 && (bytes <= MAX_HELD_BYTES || z === maxZoom)) {
    const held = bytes <= MAX_HELD_BYTES ? [...reader.shapesIn(tile)] : null
    if (held !== null) return descend(state, tile, index, held)
  }
  if (bytes > 0) {
    build.add(
      z,
      index,
      build.encoder.shapes(tile, () => reader.shapesIn(tile), z === maxZoom),
    )
    await build.room()
    if (z < maxZoom) {
      for (let child = 0; child < 4; child++) await visit(state, z + 1, index * 4 + child)
      return
    }
  }
  finished(state, z)
}

/** The tile and those below it, from the shapes that it has. */
async function descend(
  state: Visit,
  tile: TileAddress,
  index: number,
  shapes: readonly Shape[],
): Promise<void> {
  const { build, maxZoom } = state
  const { z } = tile
  if (shapes.length === 0) return finished(state, z)
  const encoded = build.encoder.shapes(tile, () => shapes, z === maxZoom)
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

function finished(state: Visit, z: number): void {
  const before = Math.floor(state.done * 1000)
  state.done += 4 ** -z
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

/** Finds the features of tiles by the tree, and reads their shapes. */
class TileReader {
  readonly #build: TileBuild
  readonly #shapes: ShapeReader
  /** By position: what the sample has read, for the first tile if that is built from memory. */
  readonly #sampled = new Map<number, Shape[]>()

  constructor(build: TileBuild) {
    this.#build = build
    this.#shapes = new ShapeReader(build.source)
  }

  /** The size in the pack of all features whose boxes meet the tile. */
  bytesIn(tile: TileAddress): number {
    const { tree, offsets } = this.#build
    const walk = tree.walk(tileBounds(tile, BUFFER), 0)
    let bytes = 0
    while (walk.next()) bytes += offsets[walk.end]! - offsets[walk.begin]!
    return bytes
  }

  *shapesIn(tile: TileAddress): Generator<Shape> {
    for (const position of positionsIn(this.#build.tree, tile)) {
      const sampled = this.#sampled.get(position)
      this.#sampled.delete(position)
      yield* clipToTile(sampled ?? this.#shapes.read(position), tile)
    }
  }

  /** The shapes of a feature, which are held until they are read for a tile if all features fit in memory. */
  sample(position: number): Shape[] {
    const { tree, offsets } = this.#build
    const shapes = this.#shapes.read(position)
    if (offsets[tree.count]! <= MAX_HELD_BYTES) this.#sampled.set(position, shapes)
    return shapes
  }
}

/** The positions of all features whose boxes meet a tile. */
export function* positionsIn(tree: IndexTree, tile: TileAddress): Generator<number> {
  const walk = tree.walk(tileBounds(tile, BUFFER), 0)
  while (walk.next()) for (let position = walk.begin; position < walk.end; position++) yield position
}

function sample({ tree, offsets }: TileBuild, reader: TileReader): ShapeSample {
  const distances: number[] = []
  const boxes: number[] = []
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  const share = Math.min(1, SAMPLED_FEATURES / tree.count, SAMPLED_BYTES / offsets[tree.count]!)
  const step = Math.max(1, Math.floor(1 / share))
  for (let position = 0; position < tree.count; position += step) {
    for (const shape of reader.sample(position)) {
      minX = Math.min(minX, shape.minX)
      minY = Math.min(minY, shape.minY)
      maxX = Math.max(maxX, shape.maxX)
      maxY = Math.max(maxY, shape.maxY)
      boxes.push(shape.maxX - shape.minX, shape.maxY - shape.minY)
      if (shape.type !== POINT) sampleDistances(shape, distances)
      else if (position + 1 < tree.count) {
        // In the order of the snapshot, the next feature is usually a near one.
        const [next] = reader.sample(position + 1)
        if (next) distances.push(Math.hypot(next.xy[0]! - shape.xy[0]!, next.xy[1]! - shape.xy[1]!))
      }
    }
  }
  return { distances, boxes, extent: [maxX - minX, maxY - minY], features: tree.count }
}

function sampleDistances({ xy, ends }: Shape, distances: number[]): void {
  let from = 0
  for (const end of ends) {
    const step = Math.max(1, Math.floor((end - from) / SAMPLED_POSITIONS))
    for (let i = from + 1; i < end; i += step)
      distances.push(Math.hypot(xy[i * 2]! - xy[i * 2 - 2]!, xy[i * 2 + 1]! - xy[i * 2 - 1]!))
    from = end
  }
}
