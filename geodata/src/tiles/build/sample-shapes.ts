import { ShapeReader } from '../encode/read-shapes.ts'
import type { Shape } from '../shapes/shape.ts'
import { POINT } from '../tile-geometry.ts'
import type { ShapeSample } from './choose-max-zoom.ts'
import type { TileSource } from './tile-source.ts'

const SAMPLED_FEATURES = 1000
const SAMPLED_BYTES = 8 << 20
/** Max positions of one feature, so that a feature of a million positions does not decide alone. */
const SAMPLED_POSITIONS = 500

/** A sample of the features of a snapshot, spread over all of them. */
export function sampleShapes({ index, pack }: TileSource): ShapeSample {
  const { count } = index.tree
  const reader = new ShapeReader(pack)
  const distances: number[] = []
  const boxes: number[] = []
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  const share = Math.min(1, SAMPLED_FEATURES / count, SAMPLED_BYTES / index.offsets.at(count))
  const step = Math.max(1, Math.floor(1 / share))
  for (let position = 0; position < count; position += step) {
    for (const shape of reader.read(position)) {
      minX = Math.min(minX, shape.minX)
      minY = Math.min(minY, shape.minY)
      maxX = Math.max(maxX, shape.maxX)
      maxY = Math.max(maxY, shape.maxY)
      boxes.push(shape.maxX - shape.minX, shape.maxY - shape.minY)
      if (shape.type !== POINT) sampleDistances(shape, distances)
      else if (position + 1 < count) {
        // In the order of the snapshot, the next feature is usually a near one.
        const [next] = reader.read(position + 1)
        if (next) distances.push(Math.hypot(next.xy[0]! - shape.xy[0]!, next.xy[1]! - shape.xy[1]!))
      }
    }
  }
  return { distances, boxes, extent: [maxX - minX, maxY - minY], features: count }
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
