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
  #starts = new Int32Array(MAX_BANDS + 1)
  #entries = new Int32Array(1024)

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

  /** Calls `visit` once for each pair of edges whose boxes have a point in common. */
  visitOverlaps(visit: (one: number, two: number) => void): void {
    if (this.count < FEW_EDGES) this.#visitAll(visit)
    else this.#visitBands(visit)
  }

  #visitAll(visit: (one: number, two: number) => void): void {
    const { count, minX, minY, maxX, maxY } = this
    for (let i = 1; i < count; i++) {
      for (let j = 0; j < i; j++) {
        if (minX[i]! > maxX[j]! || minX[j]! > maxX[i]! || minY[i]! > maxY[j]! || minY[j]! > maxY[i]!) continue
        visit(i, j)
      }
    }
  }

  /**
   * Within a band, edges are sorted by their left end, so an edge is compared with those that begin before it
   * ends. A pair that shares several bands is visited in the first of them.
   */
  #visitBands(visit: (one: number, two: number) => void): void {
    const { count, minX, minY, maxX, maxY } = this
    const [top, height] = this.#fillBands()
    const starts = this.#starts
    const entries = this.#entries
    const bands = Math.floor((this.#bottom(count) - top) / height) + 1
    for (let band = 0; band < bands; band++) {
      const end = starts[band]!
      const bandTop = top + band * height
      for (let p = band === 0 ? 0 : starts[band - 1]!; p < end; p++) {
        const i = entries[p]!
        const [right, upper, lower] = [maxX[i]!, minY[i]!, maxY[i]!]
        for (let q = p + 1; q < end; q++) {
          const j = entries[q]!
          if (minX[j]! > right) break
          if (minY[j]! > lower || maxY[j]! < upper) continue
          const first = Math.max(minY[j]!, upper)
          if (band === 0 || first >= bandTop) visit(i, j)
        }
      }
    }
  }

  /**
   * Lists the edges of each band, from left to right: those of band b end at `starts[b]`. Returns the top of the
   * first band and the height of each.
   */
  #fillBands(): [number, number] {
    const { count, minX, minY, maxY } = this
    const top = this.#top(count)
    const bands = Math.min(MAX_BANDS, Math.ceil(count / EDGES_PER_BAND))
    const height = Math.max(1, Math.ceil((this.#bottom(count) - top + 1) / bands))
    const keys = this.#keys.subarray(0, count)
    // Sorting numbers needs no comparing function, which is several times as fast.
    for (let i = 0; i < count; i++) keys[i] = minX[i]! * 2 ** 24 + i
    keys.sort()
    const starts = this.#starts.fill(0)
    let total = 0
    for (let i = 0; i < count; i++) {
      const last = Math.floor((maxY[i]! - top) / height)
      for (let band = Math.floor((minY[i]! - top) / height); band <= last; band++) {
        starts[band + 1]!++
        total++
      }
    }
    for (let band = 1; band <= MAX_BANDS; band++) starts[band]! += starts[band - 1]!
    if (this.#entries.length < total) this.#entries = new Int32Array(total * 2)
    // Filling moves the start of each band to its end.
    for (const key of keys) {
      const i = key - Math.floor(key / 2 ** 24) * 2 ** 24
      const last = Math.floor((maxY[i]! - top) / height)
      for (let band = Math.floor((minY[i]! - top) / height); band <= last; band++)
        this.#entries[starts[band]!++] = i
    }
    return [top, height]
  }

  #top(count: number): number {
    let top = this.minY[0]!
    for (let i = 1; i < count; i++) if (this.minY[i]! < top) top = this.minY[i]!
    return top
  }

  #bottom(count: number): number {
    let bottom = this.maxY[0]!
    for (let i = 1; i < count; i++) if (this.maxY[i]! > bottom) bottom = this.maxY[i]!
    return bottom
  }
}
