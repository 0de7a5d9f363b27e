import { Boundary } from './boundary.ts'
import type { EdgeList } from './edge-list.ts'
import { nestRings } from './nest-rings.ts'
import type { Rings } from './rings.ts'

const boundary = new Boundary()

export interface Faces {
  /** Outer rings with a positive area, each followed by its holes. Rings touch at single points at most. */
  rings: Rings
  /** The edges of rings that dividing may have moved: the coordinates of both ends in turn. */
  moved: readonly number[]
}

/** The rings around everything that an arrangement of edges winds around. */
export function traceFaces(edges: EdgeList): Faces {
  boundary.find(edges)
  paths.trace()
  return { rings: nestRings(paths.ringXy, paths.ringEnds), moved: boundary.moved }
}

/** Follows the boundary from node to node, in memory that is used again for one polygon after the other. */
class Paths {
  /** The rings that were found: x and y in turn, and the end of each as an index of positions. */
  ringXy = new Int32Array(0)
  ringEnds: number[] = []
  /** The nodes that edges lead to from node n: `#leavingCount[n]` of them, from `#leavingStart[n]` on. */
  #leavingTo = new Int32Array(0)
  #leavingStart = new Int32Array(0)
  #leavingCount = new Int32Array(0)
  /** The nodes of the path, and by node its place in the path; -1 if it is not in it. */
  #path = new Int32Array(0)
  #placeOf = new Int32Array(0)

  trace(): void {
    this.#reserve()
    this.#listLeaving()
    this.ringEnds = []
    for (let i = 0; i < boundary.count; i++) {
      const start = boundary.from[i]!
      while (this.#leavingCount[start]! > 0) this.#walk(start)
    }
  }

  #reserve(): void {
    const { count, nodeCount } = boundary
    if (this.#leavingTo.length < count) {
      this.#leavingTo = new Int32Array(count * 2)
      this.ringXy = new Int32Array(count * 4)
    }
    if (this.#placeOf.length >= nodeCount) return
    this.#leavingStart = new Int32Array(nodeCount * 2)
    this.#leavingCount = new Int32Array(nodeCount * 2)
    this.#path = new Int32Array(nodeCount * 2)
    this.#placeOf = new Int32Array(nodeCount * 2).fill(-1)
  }

  /** Lists the edges that leave each node, in the boundary's order. */
  #listLeaving(): void {
    const { count, nodeCount, from, to } = boundary
    const starts = this.#leavingStart
    const counts = this.#leavingCount.fill(0, 0, nodeCount)
    for (let i = 0; i < count; i++) counts[from[i]!]!++
    let total = 0
    for (let node = 0; node < nodeCount; node++) {
      starts[node] = total
      total += counts[node]!
      counts[node] = 0
    }
    for (let i = 0; i < count; i++) {
      const node = from[i]!
      this.#leavingTo[starts[node]! + counts[node]!++] = to[i]!
    }
  }

  /**
   * Follows edges until the path is closed. At a node that several edges leave, the sharpest turn towards the
   * inside is taken, so that the path stays with one face; where the path meets itself, a ring is cut off.
   */
  #walk(start: number): void {
    const path = this.#path
    const placeOf = this.#placeOf
    let before = -1
    let node = start
    let length = 0
    path[length] = node
    placeOf[node] = length++
    while (this.#leavingCount[node]! > 0) {
      const next = this.#takeLeaving(node, before)
      const place = placeOf[next]!
      if (place < 0) {
        path[length] = next
        placeOf[next] = length++
        before = node
      } else {
        this.#cutRing(place, length)
        length = place + 1
        if (place === 0) break
        before = path[place - 1]!
      }
      node = next
    }
    for (let i = 0; i < length; i++) placeOf[path[i]!] = -1
  }

  /** Takes an edge that leaves a node, which was reached from the node `before` (-1: none). */
  #takeLeaving(node: number, before: number): number {
    const start = this.#leavingStart[node]!
    const end = start + --this.#leavingCount[node]!
    const chosen = start === end ? start : this.#sharpestTurn(start, end, node, before)
    const to = this.#leavingTo[chosen]!
    for (let i = chosen; i < end; i++) this.#leavingTo[i] = this.#leavingTo[i + 1]!
    return to
  }

  /** Which of the leaving edges from `first` to `last` turns most. */
  #sharpestTurn(first: number, last: number, node: number, before: number): number {
    const { nodeX, nodeY } = boundary
    const x = nodeX[node]!
    const y = nodeY[node]!
    const dx = before < 0 ? 0 : x - nodeX[before]!
    const dy = before < 0 ? 0 : y - nodeY[before]!
    let chosen = first
    let sharpest = -Infinity
    for (let i = first; i <= last; i++) {
      const ex = nodeX[this.#leavingTo[i]!]! - x
      const ey = nodeY[this.#leavingTo[i]!]! - y
      const turn = Math.atan2(dx * ey - dy * ex, dx * ex + dy * ey)
      if (turn <= sharpest) continue
      sharpest = turn
      chosen = i
    }
    return chosen
  }

  /** The path from a place on is a ring; its first node stays in the path. */
  #cutRing(place: number, length: number): void {
    const { nodeX, nodeY } = boundary
    let end = this.ringEnds.at(-1) ?? 0
    for (let i = place; i < length; i++) {
      const node = this.#path[i]!
      this.ringXy[end * 2] = nodeX[node]!
      this.ringXy[end * 2 + 1] = nodeY[node]!
      if (i > place) this.#placeOf[node] = -1
      end++
    }
    this.ringEnds.push(end)
  }
}

const paths = new Paths()
