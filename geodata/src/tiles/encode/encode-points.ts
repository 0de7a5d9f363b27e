import { POINT, type TileGeometry } from '../tile-geometry.ts'
import type { TileAddress } from '../tile-id.ts'
import type { CellValues } from './cell-values.ts'
import type { FeatureBytes } from './feature-bytes.ts'
import { type PointSet, type PointsShown, unitInTile } from './point-cells.ts'
import type { TileContent } from './tile-content.ts'
import type { TileLayer } from './tile-layer.ts'

export interface PointTarget {
  layer: TileLayer
  source: FeatureBytes
  geometry: TileGeometry
  content: TileContent
  /** The snapshot's position of a point's feature. */
  positionOf(point: number): number
  /** All places of a multipoint that are in the tile, in world coordinates; null if there is one. */
  placesOf?(point: number): Float64Array | null
  /** The columns that clusters sum up. */
  values: readonly CellValues[]
}

/** Adds to a tile's layer what it shows of its points. */
export function addPoints(
  target: PointTarget,
  { z }: TileAddress,
  { xs, ys, weights }: Pick<PointSet, 'xs' | 'ys' | 'weights'>,
  { points, clusters, members }: PointsShown,
): void {
  const { layer, source, geometry, content } = target
  source.prefetch?.(points.map((point) => target.positionOf(point)))
  for (const point of points) {
    const places = target.placesOf?.(point)
    geometry.clear()
    if (places && places.length > 2) geometry.points(unitsOf(places, z), places.length / 2)
    else geometry.points([unitInTile(z, xs[point]!), unitInTile(z, ys[point]!)], 1)
    source.seek(target.positionOf(point))
    const isCounted = weights?.[point] !== 0
    layer.add(source.bytes, source.start, source.end, POINT, geometry, { isCounted })
  }
  content.features += points.length
  for (let i = 0; i < clusters.length; i += 3) {
    geometry.clear()
    geometry.points([clusters[i]!, clusters[i + 1]!], 1)
    const positions = members ? membersOf(members, i / 3, target) : []
    const summaries = target.values.map((values) => values.summarize(positions))
    layer.addCluster(geometry, clusters[i + 2]!, summaries)
    content.counted += clusters[i + 2]!
  }
}

function membersOf(
  { points, ends }: NonNullable<PointsShown['members']>,
  cluster: number,
  { positionOf }: PointTarget,
): Uint32Array {
  return points.subarray(cluster === 0 ? 0 : ends[cluster - 1]!, ends[cluster]!).map(positionOf)
}

function unitsOf(places: Float64Array, z: number): number[] {
  return Array.from(places, (coordinate) => unitInTile(z, coordinate))
}
