import type { Column } from '../../feature.ts'
import type { Shape } from '../shapes/shape.ts'
import { TileGeometry } from '../tile-geometry.ts'
import type { TileAddress } from '../tile-id.ts'
import { CellValues, type TileColumn } from './cell-values.ts'
import { addPoints, type PointTarget } from './encode-points.ts'
import { ShapeEncoder } from './encode-shapes.ts'
import type { FeatureBytes } from './feature-bytes.ts'
import { FINENESSES, FINEST } from './fineness.ts'
import { ALL_POINTS, POINT_BYTES, PointCells, type PointSet, type PointsShown } from './point-cells.ts'
import { noContent, type TileContent } from './tile-content.ts'
import { type SeenProperties, TileLayer } from './tile-layer.ts'
import { MAX_DEEPEST_BYTES, MAX_RAW_BYTES } from './tile-limits.ts'

export interface EncodedTile {
  /** The tile before compression; empty if it shows nothing. */
  bytes: Buffer
  content: TileContent
  /** Makes a coarser tile, for one that is too large when it is compressed; null if there is none to be made. */
  coarser: (() => EncodedTile) | null
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
  #values: readonly CellValues[] = []

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

  /** The properties of all tiles so far. */
  get seenProperties(): SeenProperties {
    return this.#layer.seen
  }

  /** The columns that points which stand for several features sum up, in the tiles from now on. */
  set summed(columns: readonly TileColumn[]) {
    this.#layer.summed = columns
    this.#values = columns.map((column) => new CellValues(column))
    this.#shapes.values = this.#values
  }

  /** A tile of the points `from` to `to` of a set, and of its crowded cells. */
  points(tile: TileAddress, set: PointSet, from: number, to: number, isDeepest: boolean): EncodedTile {
    const isWhole = isDeepest && set.crowded === undefined && isShowable(set, from, to)
    const limits = isWhole ? [ALL_POINTS] : POINT_BYTES
    const points = { ...set, withMembers: this.#values.length > 0 }
    return this.#attempt(limits, 0, (maxBytes) =>
      this.#shownPoints(tile, points, this.#cells.divide(tile, points, from, to, maxBytes)),
    )!
  }

  /**
   * The first result of `encode` that is not null, from the attempt `at` on; the attempts after it are made if
   * the tile is too large when it is compressed.
   */
  #attempt<T>(
    attempts: readonly T[],
    at: number,
    encode: (attempt: T) => Omit<EncodedTile, 'coarser'> | null,
  ): EncodedTile | null {
    for (let i = at; i < attempts.length; i++) {
      const encoded = encode(attempts[i]!)
      if (encoded === null) continue
      if (i > 0) encoded.content.coarser = 1
      const isLast = i === attempts.length - 1
      return { ...encoded, coarser: isLast ? null : () => this.#attempt(attempts, i + 1, encode)! }
    }
    return null
  }

  #shownPoints(tile: TileAddress, set: PointSet, shown: PointsShown) {
    const content = { ...noContent(), tiles: 1 }
    const { positions } = set
    const target: PointTarget = {
      layer: this.#layer,
      source: this.#source,
      geometry: this.#geometry,
      content,
      positionOf: positions ? (point) => positions[point]! : (point) => point,
      values: this.#values,
    }
    this.#layer.clear()
    addPoints(target, tile, set, shown)
    return { bytes: this.#layer.finish(), content }
  }

  /**
   * A tile of shapes that were clipped to it. `shapes` is called once for each attempt, from the finest on.
   */
  shapes(tile: TileAddress, shapes: () => Iterable<Shape>, isDeepest: boolean): EncodedTile {
    if (isDeepest) {
      const finest = this.#tryShapes(tile, shapes(), FINEST, MAX_DEEPEST_BYTES)
      if (finest !== null) return { ...finest, coarser: null }
    }
    const encoded = this.#attempt(FINENESSES, 0, (fineness) =>
      this.#tryShapes(tile, shapes(), fineness, MAX_RAW_BYTES),
    )
    if (encoded === null) throw new Error(`tile ${tile.z}/${tile.x}/${tile.y} is too large at every fineness`)
    return encoded
  }

  #tryShapes(
    tile: TileAddress,
    shapes: Iterable<Shape>,
    fineness: (typeof FINENESSES)[number],
    maxBytes: number,
  ): Omit<EncodedTile, 'coarser'> | null {
    const content = { ...noContent(), tiles: 1 }
    this.#layer.clear()
    const isComplete = this.#shapes.encode(tile, shapes, fineness, content, maxBytes)
    return isComplete ? { bytes: this.#layer.finish(), content } : null
  }
}

function isShowable({ order, bytesOf }: PointSet, from: number, to: number): boolean {
  let bytes = 0
  for (let i = from; i < to && bytes <= MAX_DEEPEST_BYTES; i++) bytes += bytesOf(order[i]!)
  return bytes <= MAX_DEEPEST_BYTES
}
