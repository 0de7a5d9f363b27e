import type { SyncIndex } from '../../snapshot/open-index-sync.ts'
import { CellSums, maxMembersShown, type PointSet } from '../encode/point-cells.ts'
import type { TileAddress } from '../tile-id.ts'
import { BUFFER, tileBounds, WORLD, WORLD_BITS, worldX, worldY } from '../web-mercator.ts'
import { orderPoints } from './point-order.ts'

/** Points of a snapshot, numbered by their order in it. `xs` and `ys` are world coordinates. */
export interface TilePoints {
  positions: Uint32Array
  xs: Uint32Array
  ys: Uint32Array
}

type VisitPoint = (position: number, x: number, y: number) => void

/** Calls `visit` with all points in a tile, in the order of the snapshot. */
export function eachPointIn({ tree }: SyncIndex, tile: TileAddress, visit: VisitPoint): void {
  const { z, x: column, y: row } = tile
  const leaves = tree.leafNumbers
  // The margin has the points that are in the tile only because their places were rounded.
  const walk = tree.walk(tileBounds(tile, BUFFER), 0)
  while (walk.next()) {
    for (let position = walk.begin; position < walk.end; ) {
      const block = position >>> leaves.shift
      const places = leaves.peek(block)!
      const stop = Math.min(walk.end, (block + 1) * (leaves.mask + 1))
      for (; position < stop; position++) {
        const at = (position & leaves.mask) * leaves.width
        const x = Math.min(WORLD - 1, worldX(places[at]!))
        const y = Math.min(WORLD - 1, worldY(places[at + 1]!))
        const isInside = z === 0 || (x >>> (WORLD_BITS - z) === column && y >>> (WORLD_BITS - z) === row)
        if (isInside) visit(position, x, y)
      }
    }
  }
}

/** All points in a tile. */
export function pointsIn(index: SyncIndex, tile: TileAddress): TilePoints {
  const capacity = countNear(index, tile)
  const positions = new Uint32Array(capacity)
  const xs = new Uint32Array(capacity)
  const ys = new Uint32Array(capacity)
  let count = 0
  eachPointIn(index, tile, (position, x, y) => {
    positions[count] = position
    xs[count] = x
    ys[count] = y
    count++
  })
  return {
    positions: positions.subarray(0, count),
    xs: xs.subarray(0, count),
    ys: ys.subarray(0, count),
  }
}

/** The number of points in a tile and its margin. */
function countNear({ tree }: SyncIndex, tile: TileAddress): number {
  const walk = tree.walk(tileBounds(tile, BUFFER), 0)
  let count = 0
  while (walk.next()) count += walk.end - walk.begin
  return count
}

/** The size in the pack of all features whose boxes meet a tile and its margin. */
export function bytesNear({ tree, offsets }: SyncIndex, tile: TileAddress): number {
  const walk = tree.walk(tileBounds(tile, BUFFER), 0)
  let bytes = 0
  while (walk.next()) bytes += offsets.at(walk.end) - offsets.at(walk.begin)
  return bytes
}

/**
 * The points of a tile that has too many for memory: those in sparse cells, which the tile may show, and the sums of
 * the others. `hasCells` is that of `PointSet`.
 */
export function sparsePointsIn(
  index: SyncIndex,
  tile: TileAddress,
  hasCells: boolean,
): Omit<PointSet, 'bytesOf'> {
  const max = maxMembersShown(hasCells)
  const crowded = new CellSums()
  const { counts } = crowded
  // The first points of each cell.
  const first: TilePoints = {
    positions: new Uint32Array(counts.length * max),
    xs: new Uint32Array(counts.length * max),
    ys: new Uint32Array(counts.length * max),
  }
  eachPointIn(index, tile, (position, x, y) => {
    const cell = crowded.add(tile.z, x, y)
    const member = counts[cell]! - 1
    if (member >= max) return
    first.positions[cell * max + member] = position
    first.xs[cell * max + member] = x
    first.ys[cell * max + member] = y
  })
  const shown: number[] = []
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell]! > max) continue
    for (let member = 0; member < counts[cell]!; member++) shown.push(cell * max + member)
    crowded.clear(cell)
  }
  const xs = Uint32Array.from(shown, (at) => first.xs[at]!)
  const ys = Uint32Array.from(shown, (at) => first.ys[at]!)
  const positions = Uint32Array.from(shown, (at) => first.positions[at]!)
  return { xs, ys, positions, order: orderPoints(xs, ys).order, hasCells, crowded }
}
