import type { TileAddress } from '../tile-id.ts'
import { EXTENT, EXTENT_BITS, WORLD_BITS } from '../web-mercator.ts'
import { MAX_POINTS_SHOWN } from './tile-limits.ts'

/** A dense tile has this many cells along each side: 8 pixels each when the tile is drawn 512 pixels wide. */
const CELL_BITS = 6
const CELLS = (1 << CELL_BITS) ** 2
/** The bits of a coordinate inside a cell. */
const INNER_BITS = WORLD_BITS - CELL_BITS
const INNER = 2 ** INNER_BITS

/** In a tile of fewer points than `MAX_POINTS_SHOWN` whose bytes are too many, the emptiest cells show up to this many. */
const MAX_MEMBERS_SHOWN = 16

/** Cells with up to this many points may show them. */
export function maxMembersShown(isDense: boolean): number {
  return isDense ? 1 : MAX_MEMBERS_SHOWN
}

/** Points, numbered in any way: `xs` and `ys` are world coordinates, `order` lists the numbers. */
export interface PointSet {
  xs: Uint32Array
  ys: Uint32Array
  order: Uint32Array
  /** By number: the position in the snapshot. Without it, the numbers are positions. */
  positions?: Uint32Array
  /** Further points of the tile, in cells with more points than are ever shown. */
  crowded?: CellSums
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
  readonly #sums = new CellSums()
  readonly #weights = new Int32Array(CELLS)

  /**
   * The points `from` to `to` of `order`, all of which lie in the tile. Features that are shown as they are have
   * up to `maxBytes` in the pack.
   */
  divide(tile: TileAddress, points: PointSet, from: number, to: number, maxBytes: number): PointsShown {
    const isDense = points.hasCells ?? to - from > MAX_POINTS_SHOWN
    const isSmall = points.crowded === undefined
    if (isSmall && (maxBytes === ALL_POINTS || (!isDense && maxBytes > 0))) {
      const shown = Array.from(points.order.subarray(from, to))
      if (maxBytes === ALL_POINTS || sumBytes(points, shown) <= maxBytes)
        return { points: shown, clusters: [] }
    }
    this.#sums.reset(points.crowded)
    this.#add(tile, points, from, to)
    return this.#finish(tile, points, from, to, maxMembersShown(isDense), maxBytes)
  }

  /** Counts points in their cells. */
  #add({ z }: TileAddress, { xs, ys, order, weights }: PointSet, from: number, to: number): void {
    const sums = this.#sums
    for (let i = from; i < to; i++) {
      const point = order[i]!
      sums.add(z, xs[point]!, ys[point]!)
    }
    if (weights === undefined) this.#weights.set(sums.counts)
    else {
      this.#weights.fill(0)
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
    const { counts } = this.#sums
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
      clusters.push(...this.#sums.mean(cell), this.#weights[cell]!)
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
    const { counts } = this.#sums
    const starts = new Int32Array(CELLS).fill(-1)
    const ends: number[] = []
    let end = 0
    for (let cell = 0; cell < starts.length; cell++) {
      if (counts[cell]! <= fullest) continue
      starts[cell] = end
      end += this.#weights[cell]! || counts[cell]!
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
    const { counts } = this.#sums
    const members: number[] = []
    for (let i = from; i < to; i++) {
      const point = points.order[i]!
      if (counts[cellOf(z, points, point)]! <= fullest) members.push(point)
    }
    return members
  }
}

/**
 * How many points each cell of a tile has, and where they are on average. The sums are those of places inside the cell:
 * up to 2²⁷ points of a cell they are exact, so that they do not depend on the order of the points.
 */
export class CellSums {
  readonly counts = new Int32Array(CELLS)
  readonly #sumX = new Float64Array(CELLS)
  readonly #sumY = new Float64Array(CELLS)

  /** Starts again from nothing, or from other sums. */
  reset(others?: CellSums): void {
    if (others === undefined) {
      this.counts.fill(0)
      this.#sumX.fill(0)
      this.#sumY.fill(0)
    } else {
      this.counts.set(others.counts)
      this.#sumX.set(others.#sumX)
      this.#sumY.set(others.#sumY)
    }
  }

  /** Adds a point of a tile of zoom `z`, and returns its cell. */
  add(z: number, worldX: number, worldY: number): number {
    // Shifting the tile's number out on the left leaves the fraction of the tile, in 32 bits.
    const x = worldX << z
    const y = worldY << z
    const cell = ((y >>> INNER_BITS) << CELL_BITS) | (x >>> INNER_BITS)
    this.counts[cell]!++
    this.#sumX[cell]! += x & (INNER - 1)
    this.#sumY[cell]! += y & (INNER - 1)
    return cell
  }

  /** Removes the points of a cell. */
  clear(cell: number): void {
    this.counts[cell] = 0
    this.#sumX[cell] = 0
    this.#sumY[cell] = 0
  }

  /** The mean of a cell's points, in tile units. */
  mean(cell: number): [x: number, y: number] {
    const count = this.counts[cell]!
    const column = cell % 2 ** CELL_BITS
    const row = cell >>> CELL_BITS
    return [
      tileUnit(column * INNER + this.#sumX[cell]! / count),
      tileUnit(row * INNER + this.#sumY[cell]! / count),
    ]
  }
}

function cellOf(z: number, { xs, ys }: Pick<PointSet, 'xs' | 'ys'>, point: number): number {
  return (((ys[point]! << z) >>> INNER_BITS) << CELL_BITS) | ((xs[point]! << z) >>> INNER_BITS)
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
