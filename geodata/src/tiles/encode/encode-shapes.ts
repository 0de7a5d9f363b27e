import type { Shape } from '../shapes/shape.ts'
import { POINT, TileGeometry } from '../tile-geometry.ts'
import type { TileAddress } from '../tile-id.ts'
import { tileSize } from '../web-mercator.ts'
import type { CellValues } from './cell-values.ts'
import { DrawnShapes } from './drawn-shapes.ts'
import { addPoints, type PointTarget } from './encode-points.ts'
import type { FeatureBytes } from './feature-bytes.ts'
import type { Fineness } from './fineness.ts'
import { ALL_POINTS, POINT_BYTES, PointCells } from './point-cells.ts'
import { ShortFeatures } from './short-features.ts'
import type { TileContent } from './tile-content.ts'
import type { TileLayer } from './tile-layer.ts'

/** What an encoder takes features from. */
export interface EncoderSource {
  layer: TileLayer
  bytes: FeatureBytes
  /** The size of a feature in the pack. */
  sizeOf(position: number): number
}

/** Adds the shapes of one tile to a layer. The shapes are clipped to the tile and its margin. */
export class ShapeEncoder {
  /** The columns that clusters sum up. */
  values: readonly CellValues[] = []
  readonly #source: EncoderSource
  readonly #cells = new PointCells()
  readonly #geometry = new TileGeometry()

  constructor(source: EncoderSource) {
    this.#source = { ...source, bytes: new ShortFeatures(source.bytes) }
  }

  /** Returns false if the layer grew beyond `maxBytes`, without adding the rest. */
  encode(
    tile: TileAddress,
    shapes: Iterable<Shape>,
    fineness: Fineness,
    content: TileContent,
    maxBytes: number,
  ): boolean {
    const { layer, bytes } = this.#source
    const drawn = new DrawnShapes(tile, fineness, layer, bytes, this.#geometry, content)
    const places = new Places(tile)
    for (const shape of shapes) {
      if (shape.type === POINT) places.addPoints(shape)
      else if (fineness.withShapes) drawn.add(shape)
      else places.addStart(shape)
      if (layer.size > maxBytes) return false
    }
    drawn.finish()
    if (places.count > 0) this.#addPoints(tile, places, fineness, content)
    return true
  }

  #addPoints(tile: TileAddress, places: Places, fineness: Fineness, content: TileContent): void {
    const { layer, bytes, sizeOf } = this.#source
    const { positions, multiple } = places
    const set = {
      ...places.set(),
      bytesOf: (i: number) => sizeOf(positions[i]!),
      withMembers: this.values.length > 0,
    }
    const maxBytes = fineness.pixel === 0 ? ALL_POINTS : fineness.withProperties ? POINT_BYTES[1]! : 0
    const shown = this.#cells.divide(tile, set, 0, places.count, maxBytes)
    const target: PointTarget = {
      layer,
      source: bytes,
      geometry: this.#geometry,
      content,
      positionOf: (i) => positions[i]!,
      placesOf: (i) => multiple.get(i) ?? null,
      values: this.values,
    }
    addPoints(target, tile, set, shown)
  }
}

/** The points of a tile among other shapes, and those that stand for shapes. */
class Places {
  readonly positions: number[] = []
  readonly multiple = new Map<number, Float64Array>()
  readonly #left: number
  readonly #top: number
  readonly #size: number
  readonly #xs: number[] = []
  readonly #ys: number[] = []
  readonly #weights: number[] = []

  constructor({ z, x, y }: TileAddress) {
    this.#size = tileSize(z)
    this.#left = x * this.#size
    this.#top = y * this.#size
  }

  get count(): number {
    return this.positions.length
  }

  addPoints(shape: Shape): void {
    if (shape.xy.length > 2) this.multiple.set(this.count, shape.xy)
    // A multipoint with points in several tiles is counted in the tile of its first point.
    this.#add(shape, shape.xy[0]!, shape.xy[1]!, this.#isCountedHere(shape) ? 1 : 0)
  }

  /** A line or polygon that reaches into several tiles is shown and counted in the tile in which it begins. */
  addStart(shape: Shape): void {
    if (this.#isCountedHere(shape)) this.#add(shape, Math.round(shape.startX), Math.round(shape.startY), 1)
  }

  set() {
    return {
      xs: Uint32Array.from(this.#xs),
      ys: Uint32Array.from(this.#ys),
      order: Uint32Array.from(this.#xs, (_, i) => i),
      weights: Uint8Array.from(this.#weights),
    }
  }

  #isCountedHere({ isCounted, startX, startY }: Shape): boolean {
    const x = startX - this.#left
    const y = startY - this.#top
    return isCounted && x >= 0 && x < this.#size && y >= 0 && y < this.#size
  }

  #add({ position }: Shape, x: number, y: number, weight: number): void {
    this.positions.push(position)
    this.#xs.push(x)
    this.#ys.push(y)
    this.#weights.push(weight)
  }
}
