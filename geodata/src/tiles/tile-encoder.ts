import { gzipSync } from 'node:zlib'
import type { Column } from '../feature.ts'
import { addPoints, type PointTarget } from './encode-points.ts'
import { FINENESSES, FINEST, ShapeEncoder } from './encode-shapes.ts'
import type { FeatureBytes } from './feature-bytes.ts'
import { PointCells, type PointSet, type PointsShown } from './point-cells.ts'
import type { Shape } from './shape.ts'
import { noContent, type TileContent } from './tile-content.ts'
import { TileGeometry } from './tile-geometry.ts'
import type { TileAddress } from './tile-id.ts'
import { TileLayer } from './tile-layer.ts'

/** The max size of a tile, compressed, in bytes. */
const MAX_TILE_BYTES = 200_000
/** A tile that is larger than this before compression is not tried. */
const MAX_RAW_BYTES = 4_000_000
/**
 * The deepest zoom shows every feature even in a larger tile, up to this size before compression: a million
 * features at one place are no map.
 */
const MAX_DEEPEST_BYTES = 16_000_000

export interface EncodedTile {
  /** The tile before compression; empty if it shows nothing. */
  bytes: Buffer
  content: TileContent
}

/**
 * From the features of a tile to its bytes, in one layer named after the table. The tiles of the archive and
 * those that are made on request come from here.
 */
export class TileEncoder {
  readonly #layer: TileLayer
  readonly #source: FeatureBytes
  readonly #shapes: ShapeEncoder
  readonly #cells = new PointCells()
  readonly #geometry = new TileGeometry()

  constructor(
    table: string,
    columns: readonly Column[],
    source: FeatureBytes,
    sizeOf: (position: number) => number,
  ) {
    this.#layer = new TileLayer(table, columns)
    this.#source = source
    this.#shapes = new ShapeEncoder({ layer: this.#layer, bytes: source, sizeOf })
  }

  /** A tile of the points `from` to `to` of a set, which are numbered by their positions in the snapshot. */
  points(tile: TileAddress, set: PointSet, from: number, to: number, isDeepest: boolean): EncodedTile {
    let encoded: EncodedTile | null = null
    if (isDeepest && isShowable(set, from, to)) {
      encoded = this.shownPoints(tile, set, this.#divide(tile, set, from, to, true, false))
      if (!fits(encoded.bytes)) encoded.content.large = 1
      return encoded
    }
    encoded = this.shownPoints(tile, set, this.#divide(tile, set, from, to, false, false))
    if (fits(encoded.bytes)) return encoded
    const coarse = this.shownPoints(tile, set, this.#divide(tile, set, from, to, false, true))
    coarse.content.coarser = 1
    return coarse
  }

  /** The tile of points that have been divided already. */
  shownPoints(tile: TileAddress, set: PointSet, shown: PointsShown): EncodedTile {
    const content = { ...noContent(), tiles: 1 }
    const target: PointTarget = {
      layer: this.#layer,
      source: this.#source,
      geometry: this.#geometry,
      content,
      positionOf: (point) => point,
    }
    this.#layer.clear()
    addPoints(target, tile, set, shown)
    return { bytes: this.#layer.finish(), content }
  }

  /**
   * A tile of shapes that were clipped to it. `shapes` is called once for each attempt, from the finest on, until
   * the tile is small enough.
   */
  shapes(tile: TileAddress, shapes: () => Iterable<Shape>, isDeepest: boolean): EncodedTile {
    if (isDeepest) {
      const finest = this.#tryShapes(tile, shapes(), FINEST, MAX_DEEPEST_BYTES)
      if (finest !== null) {
        if (!fits(finest.bytes)) finest.content.large = 1
        return finest
      }
    }
    for (const fineness of FINENESSES) {
      const encoded = this.#tryShapes(tile, shapes(), fineness, MAX_RAW_BYTES)
      if (encoded === null || !fits(encoded.bytes)) continue
      if (fineness !== FINENESSES[0]) encoded.content.coarser = 1
      return encoded
    }
    throw new Error(`tile ${tile.z}/${tile.x}/${tile.y} is too large at every fineness`)
  }

  #tryShapes(
    tile: TileAddress,
    shapes: Iterable<Shape>,
    fineness: (typeof FINENESSES)[number],
    maxBytes: number,
  ): EncodedTile | null {
    const content = { ...noContent(), tiles: 1 }
    this.#layer.clear()
    const isComplete = this.#shapes.encode(tile, shapes, fineness, content, maxBytes)
    return isComplete ? { bytes: this.#layer.finish(), content } : null
  }

  #divide(
    tile: TileAddress,
    set: PointSet,
    from: number,
    to: number,
    all: boolean,
    none: boolean,
  ): PointsShown {
    return this.#cells.divide(tile, set, from, to, { all, none })
  }
}

function isShowable({ order, bytesOf }: PointSet, from: number, to: number): boolean {
  let bytes = 0
  for (let i = from; i < to && bytes <= MAX_DEEPEST_BYTES; i++) bytes += bytesOf(order[i]!)
  return bytes <= MAX_DEEPEST_BYTES
}

function fits(bytes: Buffer): boolean {
  return bytes.length <= MAX_TILE_BYTES || gzipSync(bytes).length <= MAX_TILE_BYTES
}
