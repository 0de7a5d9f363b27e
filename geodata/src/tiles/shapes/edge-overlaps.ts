import { indexOfKey, sortKey } from './edge-list.ts'

/** Fewer edges than this are compared pair by pair. */
const FEW_EDGES = 16
/** The edges are divided into bands of y: one per EDGES_PER_BAND edges, at most MAX_BANDS. */
const EDGES_PER_BAND = 8
const MAX_BANDS = 128

/** The boxes of edges, in tile units, in memory that is used again for one polygon after the other. */
export class EdgeBoxes {
  count = 0
  minX = new Int32Array(1024)
  minY = new Int32Array(1024)
  maxX = new Int32Array(1024)
  maxY = new Int32Array(1024)
  #keys = new Float64Array(1024)
  #top = 0
  #bottom = 0
  /** The height of a band is a power of two: 2 ** #shift. */
  #shift = 0
  /** The edges of all bands, one band after the other: those of band b end at `#ends[b]`. */
  #entries = new Int32Array(1024)
  #ends = new Int32Array(2 * MAX_BANDS + 1)

  clear(count: number): void {
    this.count = 0
    if (count <= this.minX.length) return
    const size = Math.max(count, this.minX.length * 2)
    this.minX = new Int32Array(size)
    this.minY = new Int32Array(size)
    this.maxX = new Int32Array(size)
    this.maxY = new Int32Array(size)
    this.#keys = new Float64Array(size)
  }

  /** Adds the box of the edge from a to b. Room for it was made by `clear`. */
  add(ax: number, ay: number, bx: number, by: number): void {
    const i = this.count++
    this.minX[i] = Math.min(ax, bx)
    this.maxX[i] = Math.max(ax, bx)
    this.minY[i] = Math.min(ay, by)
    this.maxY[i] = Math.max(ay, by)
  }

  /**
   * Lists the edges of each band from left to right, for the functions below. With `isSorted`, they were added in
   * this order.
   */
  fillBands(isSorted: boolean): void {
    const { count } = this
    if (count < FEW_EDGES) return
    this.#top = this.minY[0]!
    this.#bottom = this.maxY[0]!
    for (let i = 1; i < count; i++) {
      if (this.minY[i]! < this.#top) this.#top = this.minY[i]!
      if (this.maxY[i]! > this.#bottom) this.#bottom = this.maxY[i]!
    }
    const bands = Math.min(MAX_BANDS, Math.ceil(count / EDGES_PER_BAND))
    const height = Math.max(1, Math.ceil((this.#bottom - this.#top + 1) / bands))
    this.#shift = 31 - Math.clz32(height)
    this.#countEntries()
    this.#enterEdges(isSorted ? null : this.#sortedKeys())
  }

  /**
   * Calls `visit` once for each pair of edges whose boxes have a point in common, until it returns false.
   */
  visitOverlaps(visit: (one: number, two: number) => boolean): void {
    if (this.count < FEW_EDGES) this.#visitAll(visit)
    else this.#visitBands(visit)
  }

  /** Calls `visit` at least once for each edge whose box has a point in common with a box. */
  visitBox(left: number, top: number, right: number, bottom: number, visit: (edge: number) => void): void {
    const { count, minX, minY, maxX, maxY } = this
    const isFew = count < FEW_EDGES
    const firstBand = isFew ? 0 : this.#bandOf(Math.max(top, this.#top))
    const lastBand = isFew ? 0 : this.#bandOf(Math.min(bottom, this.#bottom))
    for (let band = firstBand; band <= lastBand; band++) {
      const end = isFew ? count : this.#ends[band]!
      for (let p = band === 0 ? 0 : this.#ends[band - 1]!; p < end; p++) {
        const i = isFew ? p : this.#entries[p]!
        if (minX[i]! > right && !isFew) break
        if (minX[i]! > right || maxX[i]! < left || minY[i]! > bottom || maxY[i]! < top) continue
        visit(i)
      }
    }
  }

  #visitAll(visit: (one: number, two: number) => boolean): void {
    const { count, minX, minY, maxX, maxY } = this
    for (let i = 1; i < count; i++) {
      for (let j = 0; j < i; j++) {
        if (minX[i]! > maxX[j]! || minX[j]! > maxX[i]! || minY[i]! > maxY[j]! || minY[j]! > maxY[i]!) continue
        if (!visit(i, j)) return
      }
    }
  }

  /**
   * Within a band, edges are sorted by their left end, so an edge is compared with those that begin before it
   * ends. A pair that shares several bands is visited in the first of them.
   */
  #visitBands(visit: (one: number, two: number) => boolean): void {
    const { minX, minY, maxX, maxY } = this
    const ends = this.#ends
    const entries = this.#entries
    const lastBand = this.#bandOf(this.#bottom)
    for (let band = 0; band <= lastBand; band++) {
      const end = ends[band]!
      const bandTop = band === 0 ? -Infinity : this.#top + (band << this.#shift)
      for (let p = band === 0 ? 0 : ends[band - 1]!; p < end; p++) {
        const i = entries[p]!
        const right = maxX[i]!
        const upper = minY[i]!
        const lower = maxY[i]!
        for (let q = p + 1; q < end; q++) {
          const j = entries[q]!
          if (minX[j]! > right) break
          if (minY[j]! > lower || maxY[j]! < upper) continue
          if (upper < bandTop && minY[j]! < bandTop) continue
          if (!visit(i, j)) return
        }
      }
    }
  }

  #bandOf(y: number): number {
    return (y - this.#top) >> this.#shift
  }

  #sortedKeys(): Float64Array {
    const keys = this.#keys.subarray(0, this.count)
    for (let i = 0; i < keys.length; i++) keys[i] = sortKey(this.minX[i]!, i)
    return keys.sort()
  }

  /** Makes room for the entries of all bands. Each band begins where the one before it ends. */
  #countEntries(): void {
    const { count, minY, maxY } = this
    const top = this.#top
    const shift = this.#shift
    const ends = this.#ends.fill(0)
    for (let i = 0; i < count; i++) {
      const last = (maxY[i]! - top) >> shift
      for (let band = (minY[i]! - top) >> shift; band <= last; band++) ends[band + 1]!++
    }
    for (let band = 1; band < ends.length; band++) ends[band]! += ends[band - 1]!
    const total = ends.at(-1)!
    if (this.#entries.length < total) this.#entries = new Int32Array(total * 2)
  }

  /** Appends the edges to their bands, in the order of their keys, which moves the start of each band to its end. */
  #enterEdges(keys: Float64Array | null): void {
    const { count, minY, maxY } = this
    const top = this.#top
    const shift = this.#shift
    const ends = this.#ends
    const entries = this.#entries
    for (let k = 0; k < count; k++) {
      const i = keys === null ? k : indexOfKey(keys[k]!)
      const last = (maxY[i]! - top) >> shift
      for (let band = (minY[i]! - top) >> shift; band <= last; band++) entries[ends[band]!++] = i
    }
  }
}
