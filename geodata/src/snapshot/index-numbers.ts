import type { CachedPart } from '../pack/pack-cache.ts'

/** The bytes of a block, and the same as numbers once they were needed. */
export type BlockBytes = Pick<CachedPart, 'bytes' | 'numbers'>

/** Blocks that are in memory or are read. */
export interface BlockSource {
  peek(block: number): BlockBytes | undefined
  load(block: number): Promise<BlockBytes>
  leave(): void
}

export type NumberArray = Float64Array | Uint32Array

/**
 * One part of an index: items of one, two or four numbers each, in blocks of `mask + 1` items. Item i is in block
 * `i >>> shift`, at `(i & mask) * width`. A part that is in memory as a whole is one block.
 */
export class IndexNumbers<A extends NumberArray = NumberArray> {
  readonly width: number
  readonly shift: number
  readonly mask: number
  /** Blocks that stay in memory. */
  readonly #pinned: (A | undefined)[]
  readonly #cached: BlockSource | null
  readonly #view: (bytes: Buffer) => A
  /** The block that was used last: looking one up in the cache takes ten times as long. */
  #last: A | undefined
  #lastBlock = -1

  constructor(
    { width, shift }: { width: number; shift: number },
    pinned: (A | undefined)[],
    cached: BlockSource | null,
    view: (bytes: Buffer) => A,
  ) {
    this.width = width
    this.shift = shift
    this.mask = 2 ** shift - 1
    this.#pinned = pinned
    this.#cached = cached
    this.#view = view
  }

  /** All numbers; null if they are not in memory as a whole. */
  get all(): A | null {
    return this.#cached === null ? this.#pinned[0]! : null
  }

  /** A part that is in memory as a whole. */
  static whole<A extends NumberArray>(numbers: A, width: number): IndexNumbers<A> {
    return new IndexNumbers({ width, shift: 31 }, [numbers], null, () => numbers)
  }

  isPinned(block: number): boolean {
    return this.#pinned[block] !== undefined
  }

  /** The block if it is in memory. */
  peek(block: number): A | undefined {
    if (block === this.#lastBlock) return this.#last
    const numbers = this.#pinned[block] ?? this.#peekCached(block)
    if (numbers === undefined) return undefined
    this.#lastBlock = block
    this.#last = numbers
    return numbers
  }

  #peekCached(block: number): A | undefined {
    const part = this.#cached?.peek(block)
    return part && this.#numbersOf(part)
  }

  /** Reads the block unless it is in memory. */
  async load(block: number): Promise<A> {
    return this.#pinned[block] ?? this.#numbersOf(await this.#cached!.load(block))
  }

  /** The first number of an item; NaN if it is not in memory. */
  at(item: number): number {
    const block = this.peek(item >>> this.shift)
    return block === undefined ? Number.NaN : block[(item & this.mask) * this.width]!
  }

  /** The same from memory or disk. */
  async read(item: number): Promise<number> {
    const block = await this.load(item >>> this.shift)
    return block[(item & this.mask) * this.width]!
  }

  /** A copy of the numbers of some items, each of which has one; null if they are not in memory. */
  range(from: number, to: number): Uint32Array | null {
    const numbers = new Uint32Array(to - from)
    for (let item = from; item < to; ) {
      const block = this.peek(item >>> this.shift)
      if (block === undefined) return null
      const first = item & this.mask
      const part = block.subarray(first, Math.min(block.length, first + to - item))
      numbers.set(part, item - from)
      item += part.length
    }
    return numbers
  }

  /** Reads the blocks of some items unless they are in memory. */
  async loadRange(from: number, to: number): Promise<void> {
    if (from >= to) return
    for (let block = from >>> this.shift; block <= (to - 1) >>> this.shift; block++) await this.load(block)
  }

  /** Releases the memory of blocks that are not pinned. */
  close(): void {
    this.#cached?.leave()
    this.#lastBlock = -1
    this.#last = undefined
  }

  #numbersOf(part: BlockBytes): A {
    part.numbers ??= this.#view(part.bytes)
    return part.numbers as A
  }
}

/** How numbers are stored in a part: the bytes of one, and the array over a block, which begins at a multiple of them. */
export interface NumberFormat<A extends NumberArray> {
  bytes: number
  view: (block: Buffer) => A
}

export const DOUBLES: NumberFormat<Float64Array> = {
  bytes: 8,
  view: ({ buffer, byteOffset, length }) => new Float64Array(buffer, byteOffset, length / 8),
}

export const INTEGERS: NumberFormat<Uint32Array> = {
  bytes: 4,
  view: ({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length / 4),
}
