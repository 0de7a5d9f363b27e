import { FlatGeometry } from '../../exports/geometry/flat-geometry.ts'
import { FeatureSlices } from '../../pack/pack-reader.ts'
import { clipShape, type WorldBox } from '../shapes/clip-shape.ts'
import { type Shape, shapesOf } from '../shapes/shape.ts'
import { POINT } from '../tile-geometry.ts'
import type { TileAddress } from '../tile-id.ts'
import { BUFFER, tileSize, unitSize } from '../web-mercator.ts'
import type { FeatureBytes } from './feature-bytes.ts'

/** Reads the shapes of features from the pack. */
export class ShapeReader {
  readonly #source: FeatureBytes
  readonly #slices = new FeatureSlices()
  readonly #geometry = new FlatGeometry()

  constructor(source: FeatureBytes) {
    this.#source = source
  }

  read(position: number): Shape[] {
    const source = this.#source
    source.seek(position)
    this.#slices.locate(source.bytes, source.start, source.end)
    this.#geometry.read(source.bytes, this.#slices.geometryStart)
    return shapesOf(this.#geometry, position)
  }

  /** What a tile has of the features at these positions. */
  *inTile(positions: Iterable<number>, tile: TileAddress): Generator<Shape> {
    for (const position of positions) yield* clipToTile(this.read(position), tile)
  }
}

/** The parts of shapes in a tile: points exactly, other shapes with a margin. */
export function clipToTile(shapes: Iterable<Shape>, tile: TileAddress): Shape[] {
  const withMargin = tileBox(tile)
  const exact = tileBox(tile, 0)
  const clipped: Shape[] = []
  for (const shape of shapes) {
    const part = clipShape(shape, shape.type === POINT ? exact : withMargin)
    if (part !== null) clipped.push(part)
  }
  return clipped
}

export function tileBox({ z, x, y }: TileAddress, margin = BUFFER): WorldBox {
  const size = tileSize(z)
  const more = margin * unitSize(z)
  return {
    minX: x * size - more,
    minY: y * size - more,
    maxX: (x + 1) * size + more,
    maxY: (y + 1) * size + more,
  }
}
