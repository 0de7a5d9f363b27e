import type { TileAddress } from '../tile-id.ts'
import { EXTENT, EXTENT_BITS, WORLD_BITS } from '../web-mercator.ts'
import { MAX_POINTS_SHOWN } from './tile-limits.ts'

/** A dense tile has this many cells along each side: 8 pixels each when the tile is drawn 512 pixels wide. */
const CELL_BITS = 6
const CELLS = 1 << CELL_BITS

/** In a tile of fewer points than `MAX_POINTS_SHOWN` whose bytes are too many, the emptiest cells show up to this many. */
const MAX_MEMBERS_SHOWN = 16

/** Points, numbered in any way: `xs` and `ys` are world coordinates, `order` lists the numbers. */
export interface PointSet {
  xs: Uint32Array
  ys: Uint32Array
  order: Uint32Array
  /** The size of the feature in the pack. */
  bytesOf(point: number): number
  /** By point: 0 if its feature is counted in another tile, else 1. Without it, all are counted. */
  weights?: Uint8Array
  /** Whether a dense tile may read these features, which can be scattered over the pack. Without it, it may. */
  mayRead?(points: readonly number[]): boolean
  /**
   * Whether points that share a cell are counted in one. It is the same for all tiles of a zoom, so that neighbouring
   * tiles look alike. Without it, a tile decides by the number of its own points.
   */
  hasCells?: boolean
  /** Whether `PointsShown.members` is wanted. */
  withMembers?: boolean
}

/** What a tile shows of its points. */
export interface PointsShown {
  /** The numbers of the points that are shown as they are. */
  points: number[]
  /**
   * For each cell that is shown as one point: x, y in tile units, and the number of features. It is 0 if the cell has
   * only features that are counted in another tile.
   */
  clusters: number[]
  /** If they are wanted: the points of the first cluster, then those of the second, and where each list ends. */
  members?: { points: Uint32Array; ends: number[] }
}

/** At the deepest zoom a tile shows every feature, whatever its size. */
export const ALL_POINTS = Infinity
/**
 * At other zooms: limits on the bytes that the features shown have in the pack, tried in turn until the compressed
 * tile is small enough. With 0, no feature is shown as it is.
 */
export const POINT_BYTES: readonly number[] = [800_000, 400_000, 200_000, 48_000, 0]

/**
 * Divides the points of a tile into those that are shown as they are and cells that are shown as one point at
 * the mean of their members. Each point is counted exactly once, with its weight.
 */
export class PointCells {
  readonly #counts = new Int32Array(CELLS * CELLS)
  readonly #weights = new Int32Array(CELLS * CELLS)
  readonly #sumX = new Float64Array(CELLS * CELLS)
  readonly #sumY = new Float64Array(CELLS * CELLS)

  /**
   * The points `from` to `to` of `order`, all of which lie in the tile. Features that are shown as they are have
   * up to `maxBytes` in the pack.
   */
  divide(tile: TileAddress, points: PointSet, from: number, to: number, maxBytes: number): PointsShown {
    const isDense = points.hasCells ?? to - from > MAX_POINTS_SHOWN
    if (maxBytes === ALL_POINTS || (!isDense && maxBytes > 0)) {
      const shown = Array.from(points.order.subarray(from, to))
      if (maxBytes === ALL_POINTS || sumBytes(points, shown) <= maxBytes)
        return { points: shown, clusters: [] }
    }
    this.#clear()
    this.#add(tile, points, from, to)
    return this.#finish(tile, points, from, to, isDense ? 1 : MAX_MEMBERS_SHOWN, maxBytes)
  }

  #clear(): void {
    this.#counts.fill(0)
    this.#weights.fill(0)
    this.#sumX.fill(0)
    this.#sumY.fill(0)
  }

  /** Counts points in their cells. */
  #add({ z }: TileAddress, { xs, ys, order, weights }: PointSet, from: number, to: number): void {
    const counts = this.#counts
    const sumX = this.#sumX
    const sumY = this.#sumY
    // Shifting the tile's number out on the left leaves the fraction of the tile, in 32 bits.
    for (let i = from; i < to; i++) {
      const point = order[i]!
      const x = (xs[point]! << z) >>> 0
      const y = (ys[point]! << z) >>> 0
      const cell = ((y >>> (WORLD_BITS - CELL_BITS)) << CELL_BITS) | (x >>> (WORLD_BITS - CELL_BITS))
      counts[cell]!++
      sumX[cell]! += x
      sumY[cell]! += y
    }
    if (weights === undefined) this.#weights.set(counts)
    else {
      for (let i = from; i < to; i++) {
        const point = order[i]!
        this.#weights[cellOf(z, { xs, ys }, point)]! += weights[point]!
      }
    }
  }

  /**
   * The result for the points that were added, which are the same range. The emptiest cells show their members:
   * cells of up to `maxMembers`, and of fewer as long as their bytes are too many.
   */
  #finish(
    { z }: TileAddress,
    points: PointSet,
    from: number,
    to: number,
    maxMembers: number,
    maxBytes: number,
  ): PointsShown {
    const counts = this.#counts
    let fullest = maxBytes === 0 ? 0 : maxMembers
    let shown = fullest === 0 ? [] : this.#membersOf(z, points, from, to, fullest)
    while (fullest > 0 && sumBytes(points, shown) > maxBytes) {
      fullest--
      shown = shown.filter((point) => counts[cellOf(z, points, point)]! <= fullest)
    }
    if (maxMembers === 1 && points.mayRead?.(shown) === false) {
      fullest = 0
      shown = []
    }
    const clusters: number[] = []
    for (let cell = 0; cell < counts.length; cell++) {
      const count = counts[cell]!
      if (count <= fullest) continue
      const [x, y] = [this.#sumX[cell]! / count, this.#sumY[cell]! / count]
      clusters.push(tileUnit(x), tileUnit(y), this.#weights[cell]!)
    }
    if (!points.withMembers) return { points: shown, clusters }
    return { points: shown, clusters, members: this.#clusterMembers(z, points, from, to, fullest) }
  }

  /**
   * The points of the cells with more than `fullest`, by a counting sort. Those that are counted in another tile are
   * left out, unless a cell has no others.
   */
  #clusterMembers(z: number, points: PointSet, from: number, to: number, fullest: number) {
    const { order, weights } = points
    const starts = new Int32Array(CELLS * CELLS).fill(-1)
    const ends: number[] = []
    let end = 0
    for (let cell = 0; cell < starts.length; cell++) {
      if (this.#counts[cell]! <= fullest) continue
      starts[cell] = end
      end += this.#weights[cell]! || this.#counts[cell]!
      ends.push(end)
    }
    const members = new Uint32Array(end)
    for (let i = from; i < to; i++) {
      const point = order[i]!
      const cell = cellOf(z, points, point)
      if (starts[cell] === -1 || (weights?.[point] === 0 && this.#weights[cell]! > 0)) continue
      members[starts[cell]!++] = point
    }
    return { points: members, ends }
  }

  #membersOf(z: number, points: PointSet, from: number, to: number, fullest: number): number[] {
    const members: number[] = []
    for (let i = from; i < to; i++) {
      const point = points.order[i]!
      if (this.#counts[cellOf(z, points, point)]! <= fullest) members.push(point)
    }
    return members
  }
}

function cellOf(z: number, { xs, ys }: Pick<PointSet, 'xs' | 'ys'>, point: number): number {
  const down = WORLD_BITS - CELL_BITS
  return (((ys[point]! << z) >>> down) << CELL_BITS) | ((xs[point]! << z) >>> down)
}

function sumBytes({ bytesOf }: PointSet, points: readonly number[]): number {
  let bytes = 0
  for (const point of points) bytes += bytesOf(point)
  return bytes
}

/** From a fraction of the tile in 32 bits to tile units. A point on the far edge would not be drawn. */
function tileUnit(fraction: number): number {
  return Math.min(EXTENT - 1, Math.round(fraction / 2 ** (WORLD_BITS - EXTENT_BITS)))
}

/** The coordinate of a point in its tile, in tile units. */
export function unitInTile(z: number, world: number): number {
  return tileUnit((world << z) >>> 0)
}
