import {
  BlockCheck,
  CHECKED_BLOCK_BYTES,
  DamagedSnapshotError,
  type ReadableFile,
  readFully,
} from '@wayleave/geodata/snapshot'

/** A file of a snapshot and the checksums of its blocks. */
export interface CheckedFile {
  name: string
  blocks: Uint32Array
  bytes: number
}

/**
 * Verifies a range of a file while it is read piece by piece. The range may begin and end inside a block; the
 * rest of these two blocks is read in addition. The piece that completes a block is returned to the sender
 * only after the block's checksum matched, so a damaged range is never sent completely.
 */
export class RangeCheck {
  readonly #handle: ReadableFile
  readonly #file: CheckedFile
  readonly #check: BlockCheck

  private constructor(handle: ReadableFile, file: CheckedFile, firstBlock: number) {
    this.#handle = handle
    this.#file = file
    this.#check = new BlockCheck(file.name, file.blocks, firstBlock)
  }

  static async start(handle: ReadableFile, file: CheckedFile, from: number): Promise<RangeCheck> {
    const block = Math.floor(from / CHECKED_BLOCK_BYTES)
    const check = new RangeCheck(handle, file, block)
    await check.#include(block * CHECKED_BLOCK_BYTES, from)
    return check
  }

  /** Throws a DamagedSnapshotError if these bytes complete a damaged block. */
  update(bytes: Buffer): void {
    this.#check.update(bytes)
  }

  /** Must be called before the last piece, which ends at `to`, is sent. */
  async end(to: number): Promise<void> {
    const blockEnd = Math.ceil(to / CHECKED_BLOCK_BYTES) * CHECKED_BLOCK_BYTES
    await this.#include(to, Math.min(blockEnd, this.#file.bytes))
    this.#check.finish()
  }

  async #include(from: number, to: number): Promise<void> {
    const bytes = Buffer.allocUnsafe(to - from)
    const { name } = this.#file
    if ((await readFully(this.#handle, bytes, from)) < bytes.length)
      throw new DamagedSnapshotError(name, `${name} ends too early.`)
    this.#check.update(bytes)
  }
}
