import { doubled } from '../../bytes/doubled.ts'

/** Positions are numbered column by column. Coordinates lie within a tile and a margin of its own size. */
export function positionKey(x: number, y: number): number {
  return (x + 4096) * 16_384 + (y + 4096)
}

/** Indexes of edges are smaller than this. */
const INDEX_RANGE = 2 ** 24

/** A number to sort edges by. Sorting numbers needs no comparing function, which is several times as fast. */
export function sortKey(value: number, index: number): number {
  return value * INDEX_RANGE + index
}

export function valueOfKey(key: number): number {
  return Math.floor(key / INDEX_RANGE)
}

export function indexOfKey(key: number): number {
  return key - Math.floor(key / INDEX_RANGE) * INDEX_RANGE
}

/**
 * Edges in memory that is used again for one polygon after the other. Each goes from its left (or, if vertical,
 * upper) end a to its other end b.
 */
export class EdgeList {
  count = 0
  /** For an arrangement: whether its edges meet at nothing but their ends. */
  isComplete = false
  ax = new Int32Array(1024)
  ay = new Int32Array(1024)
  bx = new Int32Array(1024)
  by = new Int32Array(1024)
  /** How often rings run from a to b, less how often they run from b to a. */
  winding = new Int32Array(1024)
  /** 0 once an edge has been compared with all other edges that are not new. */
  isNew = new Uint8Array(1024)
  /** 1 if an edge is a part of one that was divided: rounding may have moved it. */
  isMoved = new Uint8Array(1024)
  #keys = new Float64Array(1024)

  clear(): void {
    this.count = 0
  }

  /** Adds a new edge that rings run along `winding` times from one position to another. */
  add(fromX: number, fromY: number, toX: number, toY: number, winding: number, isMoved: 0 | 1): void {
    const isForward = fromX < toX || (fromX === toX && fromY < toY)
    const i = this.#append()
    this.ax[i] = isForward ? fromX : toX
    this.ay[i] = isForward ? fromY : toY
    this.bx[i] = isForward ? toX : fromX
    this.by[i] = isForward ? toY : fromY
    this.winding[i] = isForward ? winding : -winding
    this.isNew[i] = 1
    this.isMoved[i] = isMoved
  }

  /** Adds a copy of an edge of another list. */
  addCopy(source: EdgeList, edge: number): void {
    const i = this.#append()
    this.ax[i] = source.ax[edge]!
    this.ay[i] = source.ay[edge]!
    this.bx[i] = source.bx[edge]!
    this.by[i] = source.by[edge]!
    this.winding[i] = source.winding[edge]!
    this.isNew[i] = source.isNew[edge]!
    this.isMoved[i] = source.isMoved[edge]!
  }

  /**
   * Replaces the edges of `target` by these, sorted by a, then by b. Equal edges become one; edges that rings run
   * along equally often both ways are left out.
   */
  mergeInto(target: EdgeList): void {
    target.clear()
    const keys = this.#sortedKeys()
    let last = -1
    for (let k = 0; k < this.count; k++) {
      const i = indexOfKey(keys[k]!)
      if (last >= 0 && this.#isEqual(i, last)) {
        const merged = target.count - 1
        target.winding[merged]! += this.winding[i]!
        target.isNew[merged]! &= this.isNew[i]!
        target.isMoved[merged]! &= this.isMoved[i]!
        continue
      }
      target.#dropUnwound()
      target.addCopy(this, i)
      last = i
    }
    target.#dropUnwound()
  }

  /** The sort keys of the edges, in order. */
  #sortedKeys(): Float64Array {
    const { count, ax, ay } = this
    if (this.#keys.length < count) this.#keys = new Float64Array(this.ax.length)
    const keys = this.#keys.subarray(0, count)
    for (let i = 0; i < count; i++) keys[i] = sortKey(positionKey(ax[i]!, ay[i]!), i)
    keys.sort()
    for (let from = 0; from < count; ) {
      const others = sortKey(valueOfKey(keys[from]!) + 1, 0)
      let end = from + 1
      while (end < count && keys[end]! < others) end++
      if (end - from > 1) this.#sortByEnd(keys, from, end)
      from = end
    }
    return keys
  }

  /** Sorts edges that share a by b. */
  #sortByEnd(keys: Float64Array, from: number, end: number): void {
    for (let k = from; k < end; k++) {
      const i = indexOfKey(keys[k]!)
      keys[k] = sortKey(positionKey(this.bx[i]!, this.by[i]!), i)
    }
    if (end - from > 2) keys.subarray(from, end).sort()
    else if (keys[from]! > keys[from + 1]!) {
      const swapped = keys[from]!
      keys[from] = keys[from + 1]!
      keys[from + 1] = swapped
    }
  }

  #isEqual(i: number, j: number): boolean {
    const { ax, ay, bx, by } = this
    return ax[i] === ax[j] && ay[i] === ay[j] && bx[i] === bx[j] && by[i] === by[j]
  }

  #dropUnwound(): void {
    if (this.count > 0 && this.winding[this.count - 1] === 0) this.count--
  }

  #append(): number {
    if (this.count === this.ax.length) this.#grow()
    return this.count++
  }

  #grow(): void {
    this.ax = doubled(this.ax)
    this.ay = doubled(this.ay)
    this.bx = doubled(this.bx)
    this.by = doubled(this.by)
    this.winding = doubled(this.winding)
    this.isNew = doubled(this.isNew)
    this.isMoved = doubled(this.isMoved)
  }
}
