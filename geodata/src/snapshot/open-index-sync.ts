import { PACK_BLOCK_BYTES } from '../pack/pack-cache.ts'
import { HEAD_NUMBERS, indexLayout, shapeOf } from './index-file.ts'
import {
  type BlockBytes,
  type BlockSource,
  DOUBLES,
  INTEGERS,
  IndexNumbers,
  type NumberArray,
} from './index-numbers.ts'
import { IndexTree } from './index-tree.ts'
import type { SyncFile } from './sync-file.ts'

/** Blocks of each part of an index that stay in memory: 8 MB. */
const MAX_BLOCKS = 32

/** An index whose searches are never blocked: a block that is not in memory is read while the thread waits. */
export interface SyncIndex {
  rows: number
  tree: IndexTree
  /** Item i is the offset of feature i in the pack; it ends two bytes before item i + 1. */
  offsets: IndexNumbers
  close(): void
}

/**
 * Opens an index for a process or thread that does nothing else, and takes over the file. Its memory does not grow with
 * the index. The blocks are not compared with their checksums: verify a local file before.
 */
export function openIndexSync(file: SyncFile): SyncIndex {
  try {
    const shape = shapeOf(DOUBLES.view(readPart(file, 0, HEAD_NUMBERS * 8)))
    const { rows, located, isPoints, narrow } = shape
    const at = indexLayout(shape)
    const part = <A extends NumberArray>(
      start: number,
      end: number,
      { bytes, view }: { bytes: number; view: (block: Buffer) => A },
      width: number,
    ) => {
      const shift = Math.log2(PACK_BLOCK_BYTES / (bytes * width))
      return new IndexNumbers<A>({ width, shift }, [], new SyncBlocks(file, start, end), view)
    }
    const leaves = part(at.leavesAt, at.nodesAt, DOUBLES, isPoints ? 2 : 4)
    const nodes = part(at.nodesAt, at.offsetsAt, DOUBLES, 4)
    const offsets = part<NumberArray>(at.offsetsAt, at.startsAt, narrow ? INTEGERS : DOUBLES, 1)
    const tree = new IndexTree(located, isPoints, leaves, nodes)
    return { rows, tree, offsets, close: () => file.close() }
  } catch (error) {
    file.close()
    throw error
  }
}

/** The blocks of one part of a file, in an LRU cache. */
class SyncBlocks implements BlockSource {
  readonly #file: SyncFile
  readonly #start: number
  readonly #end: number
  /** In LRU order, least recently used first. */
  readonly #blocks = new Map<number, BlockBytes>()

  constructor(file: SyncFile, start: number, end: number) {
    this.#file = file
    this.#start = start
    this.#end = end
  }

  peek(number: number): BlockBytes {
    const cachedBlock = this.#blocks.get(number)
    const block = cachedBlock ?? this.#read(number)
    if (cachedBlock) this.#blocks.delete(number)
    this.#blocks.set(number, block)
    return block
  }

  async load(number: number): Promise<BlockBytes> {
    return this.peek(number)
  }

  leave(): void {
    this.#blocks.clear()
  }

  #read(number: number): BlockBytes {
    if (this.#blocks.size >= MAX_BLOCKS) {
      const [oldest] = this.#blocks.keys()
      this.#blocks.delete(oldest!)
    }
    const from = this.#start + number * PACK_BLOCK_BYTES
    const bytes = readPart(this.#file, from, Math.min(this.#end, from + PACK_BLOCK_BYTES))
    return { bytes, numbers: null }
  }
}

function readPart(file: SyncFile, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(to - from)
  file.read(bytes, from, to)
  return bytes
}
