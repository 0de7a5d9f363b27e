import { firstTileId, type TileAddress, tileOf } from '../tile-id.ts'
import { cellZoomOf, maxZoomOfPoints, maxZoomOfShapes } from './choose-max-zoom.ts'
import { bytesNear } from './points-in-tile.ts'
import { sampleShapes } from './sample-shapes.ts'
import { surveyPoints } from './survey-points.ts'
import type { TileSource } from './tile-source.ts'

/**
 * Points of up to this many bytes in the pack are held in memory at a time. Less than the features that a tile of the
 * deepest zoom may show.
 */
const MAX_POINT_BYTES = 8 << 20
/** The same for lines and polygons, whose positions take about as much memory again. */
const MAX_SHAPE_BYTES = 24 << 20

/** What a build decides for all tiles. */
export interface BuiltZooms {
  /** The deepest zoom. */
  maxZoom: number
  /** See `cellZoomOf`. Absent if each tile decides for itself, which those of lines and polygons do. */
  cellZoom?: number
}

/** A tile with all tiles below it, or a tile alone whose features are too many for memory. */
export interface Partition {
  z: number
  /** Its place along the Hilbert curve of its zoom. */
  index: number
  isSubtree: boolean
  /** The size of its features in the pack. */
  bytes: number
}

/**
 * How the tiles of a snapshot are built: partitions, which do not depend on each other. In this order, the tiles of
 * each zoom are in ascending order.
 */
export interface TilePlan {
  zooms: BuiltZooms
  partitions: Partition[]
}

export interface PlanOptions {
  /** The deepest zoom that may be built. */
  zoomLimit: number
  /** The max bytes in the pack of a subtree, instead of as many as a thread should hold in memory. */
  partitionBytes?: number | undefined
  /** Makes subtrees smaller, but not larger. */
  maxBytes?: number | undefined
}

export function planTiles(source: TileSource, options: PlanOptions): TilePlan {
  return source.index.tree.isPoints ? planPoints(source, options) : planShapes(source, options)
}

function planPoints({ index }: TileSource, { zoomLimit, ...options }: PlanOptions): TilePlan {
  const maxBytes = subtreeBytes(options, MAX_POINT_BYTES)
  const survey = surveyPoints(index, maxBytes)
  const maxZoom = maxZoomOfPoints(survey, zoomLimit)
  const zooms = { maxZoom, cellZoom: cellZoomOf(survey, maxZoom) }
  const bytesOf = (tile: number) => survey.bytes.get(tile) ?? 0
  return { zooms, partitions: divide(bytesOf, maxZoom, maxBytes) }
}

function planShapes(source: TileSource, { zoomLimit, ...options }: PlanOptions): TilePlan {
  const maxZoom = maxZoomOfShapes(sampleShapes(source), zoomLimit)
  const bytesOf = (tile: number) => bytesNear(source.index, tileOf(tile))
  return { zooms: { maxZoom }, partitions: divide(bytesOf, maxZoom, subtreeBytes(options, MAX_SHAPE_BYTES)) }
}

function subtreeBytes(
  { partitionBytes, maxBytes = Infinity }: Omit<PlanOptions, 'zoomLimit'>,
  inMemory: number,
): number {
  return partitionBytes ?? Math.min(inMemory, maxBytes)
}

/** `bytesOf` returns the bytes of a tile by its number. */
function divide(bytesOf: (tile: number) => number, maxZoom: number, maxBytes: number): Partition[] {
  const partitions: Partition[] = []
  const visit = (z: number, index: number) => {
    const bytes = bytesOf(firstTileId(z) + index)
    if (bytes === 0) return
    const isSubtree = bytes <= maxBytes
    partitions.push({ z, index, isSubtree, bytes })
    if (isSubtree || z === maxZoom) return
    for (let child = 0; child < 4; child++) visit(z + 1, index * 4 + child)
  }
  visit(0, 0)
  return partitions
}

/** How much work a partition is: its bytes in the pack, for each zoom that is built from them. */
export function workOf({ partitions, zooms }: TilePlan, number: number): number {
  const { z, isSubtree, bytes } = partitions[number]!
  return bytes * (isSubtree ? zooms.maxZoom + 1 - z : 1)
}

export function topTile({ z, index }: Partition): TileAddress {
  return tileOf(firstTileId(z) + index)
}
