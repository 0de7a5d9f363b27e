import { BLOCKED } from '../features/sliced-work.ts'
import { type Order, OrderReader } from './order-reader.ts'

/** The posting list of one value: a part of the order of its column, in which positions are ascending. */
export interface PostingList {
  order: Order
  from: number
  to: number
}

/** The positions of a posting list from a position on. Only the parts of the list that it gets to are read. */
export class ListWalk {
  readonly #reader: OrderReader
  readonly #first: number
  readonly #end: number
  #index: number
  /** While the first position is searched, it is not beyond this index. */
  #high: number

  /** `first` is the first position that is wanted. */
  constructor({ order, from, to }: PostingList, first: number) {
    this.#reader = new OrderReader(order)
    this.#first = first
    this.#index = from
    this.#end = to
    this.#high = first === 0 ? from : to
  }

  /** The next position, -1 at the end, or BLOCKED if `loadMissing` has to be called. */
  next(): number {
    while (this.#index < this.#high) {
      const middle = (this.#index + this.#high) >>> 1
      const position = this.#reader.at(middle)
      if (position === BLOCKED) return BLOCKED
      if (position < this.#first) this.#index = middle + 1
      else this.#high = middle
    }
    if (this.#index === this.#end) return -1
    const position = this.#reader.at(this.#index)
    if (position !== BLOCKED) this.#index++
    return position
  }

  loadMissing(): Promise<unknown> | null {
    return this.#reader.loadMissing()
  }
}
