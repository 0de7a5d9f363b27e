/** A position in a sorted sequence of records. */
export interface Cursor {
  key: number
  row: number
  /** Advances to the next record; returns false if there is none. */
  next(): boolean
}

/** A min-heap of cursors, which merges their sequences into one that is ordered by key and row. */
export class CursorHeap<T extends Cursor> {
  readonly #heap: T[]

  /** The cursors are before their first records. */
  constructor(cursors: T[]) {
    this.#heap = cursors.filter((cursor) => cursor.next())
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  /** The cursor at the smallest record, or null if none is left. */
  first(): T | null {
    return this.#heap[0] ?? null
  }

  /** Advances past the first record. */
  advance(): void {
    const heap = this.#heap
    if (!heap[0]!.next()) {
      const last = heap.pop()!
      if (heap.length === 0) return
      heap[0] = last
    }
    this.#sink(0)
  }

  #sink(from: number): void {
    const heap = this.#heap
    const moving = heap[from]!
    const { key, row } = moving
    let at = from
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      let smallerChild = heap[child]!
      const other = heap[child + 1]
      if (other !== undefined && isBefore(other.key, other.row, smallerChild.key, smallerChild.row)) {
        smallerChild = other
        child++
      }
      if (!isBefore(smallerChild.key, smallerChild.row, key, row)) break
      heap[at] = smallerChild
      at = child
    }
    heap[at] = moving
  }
}

function isBefore(key: number, row: number, otherKey: number, otherRow: number): boolean {
  return key < otherKey || (key === otherKey && row < otherRow)
}
