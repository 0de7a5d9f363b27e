import { type EdgeList, indexOfKey, positionKey, sortKey, valueOfKey } from './edge-list.ts'
import { side } from './rings.ts'

/**
 * The boundary of everything that an arrangement of edges winds around: edges from node to node, directed so that
 * closed paths around the inside have a positive area. It is in memory that is used again for one polygon after
 * the other.
 */
export class Boundary {
  /** The ends of edges, from left to right and from top to bottom. */
  nodeCount = 0
  nodeX = new Int32Array(0)
  nodeY = new Int32Array(0)
  /** The boundary's edges: those that are not vertical from left to right, then the vertical ones. */
  count = 0
  from = new Int32Array(0)
  to = new Int32Array(0)
  /** Those of them that dividing may have moved: the coordinates of both ends in turn. */
  moved: number[] = []
  #edges: EdgeList | null = null
  /** By edge of the arrangement: the nodes of its ends, and the winding just below it. */
  #aNode = new Int32Array(0)
  #bNode = new Int32Array(0)
  #below = new Int32Array(0)
  /** By node: how many edges end there. */
  #endCount = new Int32Array(0)
  /** The edges at the sweep's line, from top to bottom. */
  #active = new Int32Array(0)
  #activeCount = 0
  /** The edges that start at the node at hand, from top to bottom. */
  #starting = new Int32Array(0)
  /** Vertical edges of the boundary that are still to be added. */
  #vertical: { edge: number; isForward: boolean }[] = []
  #keys = new Float64Array(0)

  /** Finds the boundary of an arrangement, whose edges are sorted by a. */
  find(edges: EdgeList): void {
    this.#edges = edges
    this.#reserve(edges.count)
    this.#numberNodes(edges)
    this.count = 0
    this.#activeCount = 0
    this.moved = []
    this.#vertical = []
    this.#sweep(edges.count)
    for (const { edge, isForward } of this.#vertical) this.#add(edge, isForward)
  }

  #reserve(count: number): void {
    if (this.from.length >= count) return
    const size = count * 2
    this.nodeX = new Int32Array(size * 2)
    this.nodeY = new Int32Array(size * 2)
    this.#endCount = new Int32Array(size * 2)
    this.from = new Int32Array(size)
    this.to = new Int32Array(size)
    this.#aNode = new Int32Array(size)
    this.#bNode = new Int32Array(size)
    this.#below = new Int32Array(size)
    this.#active = new Int32Array(size)
    this.#starting = new Int32Array(size)
    this.#keys = new Float64Array(size)
  }

  /** Numbers the ends of edges by merging the ends a, which are sorted, with the ends b. */
  #numberNodes({ count, ax, ay, bx, by }: EdgeList): void {
    const keys = this.#keys.subarray(0, count)
    for (let i = 0; i < count; i++) keys[i] = sortKey(positionKey(bx[i]!, by[i]!), i)
    keys.sort()
    let node = -1
    let last = -1
    let a = 0
    for (let b = 0; b < count; ) {
      const bKey = valueOfKey(keys[b]!)
      const aKey = a < count ? positionKey(ax[a]!, ay[a]!) : Infinity
      const isA = aKey <= bKey
      const i = isA ? a++ : indexOfKey(keys[b++]!)
      const key = isA ? aKey : bKey
      if (key !== last) {
        last = key
        node++
        this.nodeX[node] = isA ? ax[i]! : bx[i]!
        this.nodeY[node] = isA ? ay[i]! : by[i]!
        this.#endCount[node] = 0
      }
      if (isA) this.#aNode[i] = node
      else {
        this.#bNode[i] = node
        this.#endCount[node]!++
      }
    }
    this.nodeCount = node + 1
  }

  /**
   * Moves a vertical line from node to node and keeps the list of edges that it crosses. Edges do not cross, so
   * the winding below an edge is the same along all of it, and is known from the edge above where it starts.
   */
  #sweep(count: number): void {
    let edge = 0
    for (let node = 0; node < this.nodeCount; node++) {
      const first = edge
      while (edge < count && this.#aNode[edge] === node) edge++
      let at = this.#firstNotAbove(node)
      let ended = this.#countEnded(at, node)
      if (ended !== this.#endCount[node]) {
        // Edges that still cross are out of order.
        this.#removeEnded(node)
        at = this.#firstNotAbove(node)
        ended = 0
      }
      const started = this.#sortStarting(first, edge)
      this.#replaceActive(at, ended, started)
      let winding = this.#windingAbove(at)
      for (let i = at; i < at + started; i++) winding = this.#addBelow(this.#active[i]!, winding)
      // Edges with the same start are sorted by their end, so a vertical one is first.
      for (let i = first; i < edge - started; i++) this.#addVertical(i, winding)
    }
  }

  /**
   * The winding above a place of the active list. If edges still cross, the winding below them changes on their
   * way, so all edges above are summed up.
   */
  #windingAbove(at: number): number {
    if (at === 0) return 0
    if (this.#edges!.isComplete) return this.#below[this.#active[at - 1]!]!
    let winding = 0
    for (let i = 0; i < at; i++) winding += this.#edges!.winding[this.#active[i]!]!
    return winding
  }

  /** The place in the active list of the first edge that is not above a node. */
  #firstNotAbove(node: number): number {
    const { ax, ay, bx, by } = this.#edges!
    const active = this.#active
    const x = this.nodeX[node]!
    const y = this.nodeY[node]!
    let low = 0
    let high = this.#activeCount
    while (low < high) {
      const middle = (low + high) >> 1
      const i = active[middle]!
      if (side(ax[i]!, ay[i]!, bx[i]!, by[i]!, x, y) > 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #countEnded(at: number, node: number): number {
    let end = at
    while (end < this.#activeCount && this.#bNode[this.#active[end]!] === node) end++
    return end - at
  }

  #removeEnded(node: number): void {
    const active = this.#active
    let count = 0
    for (let i = 0; i < this.#activeCount; i++)
      if (this.#bNode[active[i]!] !== node) active[count++] = active[i]!
    this.#activeCount = count
  }

  /** Lists the edges `first` to `end`, which start at the same node, without vertical ones. Returns their number. */
  #sortStarting(first: number, end: number): number {
    const { ax, ay, bx, by } = this.#edges!
    const starting = this.#starting
    let count = 0
    for (let i = first; i < end; i++) {
      if (ax[i] === bx[i]) continue
      let place = count++
      for (; place > 0; place--) {
        const other = starting[place - 1]!
        if (side(ax[i]!, ay[i]!, bx[i]!, by[i]!, bx[other]!, by[other]!) <= 0) break
        starting[place] = other
      }
      starting[place] = i
    }
    return count
  }

  /** Replaces `ended` edges of the active list by those that start. */
  #replaceActive(at: number, ended: number, started: number): void {
    const active = this.#active
    if (ended !== started) {
      active.copyWithin(at + started, at + ended, this.#activeCount)
      this.#activeCount += started - ended
    }
    for (let i = 0; i < started; i++) active[at + i] = this.#starting[i]!
  }

  /**
   * Adds an edge that separates inside from outside. With y downwards, a path around the inside runs to the right
   * above it. Returns the winding below the edge.
   */
  #addBelow(edge: number, above: number): number {
    const below = above + this.#edges!.winding[edge]!
    this.#below[edge] = below
    if ((above !== 0) !== (below !== 0)) this.#add(edge, below !== 0)
    return below
  }

  /** The same for a vertical edge, by the winding on its right: a path around the inside runs down on the right. */
  #addVertical(edge: number, right: number): void {
    const left = right + this.#edges!.winding[edge]!
    if ((left !== 0) !== (right !== 0)) this.#vertical.push({ edge, isForward: left !== 0 })
  }

  #add(edge: number, isForward: boolean): void {
    const a = this.#aNode[edge]!
    const b = this.#bNode[edge]!
    this.from[this.count] = isForward ? a : b
    this.to[this.count++] = isForward ? b : a
    const { isMoved, ax, ay, bx, by } = this.#edges!
    if (isMoved[edge] === 1) this.moved.push(ax[edge]!, ay[edge]!, bx[edge]!, by[edge]!)
  }
}
