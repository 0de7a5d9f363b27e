import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { BlockHasher } from '../../snapshot/block-checksums.ts'

/** The checksums of a file: of the whole file and of each block. */
export interface FileChecksums {
  sha256: string
  blocks: Uint32Array
}

const READ_BYTES = 1 << 20

/** Computes the checksums of a file from its bytes, which are passed in order or read. */
export class FileHasher {
  readonly #sha256 = createHash('sha256')
  readonly #blocks = new BlockHasher()
  #bytes = 0

  update(bytes: Uint8Array): void {
    this.#sha256.update(bytes)
    this.#blocks.update(bytes)
    this.#bytes += bytes.length
  }

  /** Reads on where the bytes so far end, up to `end` or the end of the file. */
  async read(path: string, end: number): Promise<void> {
    const handle = await open(path)
    try {
      const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(READ_BYTES, end - this.#bytes)))
      while (this.#bytes < end) {
        const length = Math.min(buffer.length, end - this.#bytes)
        const { bytesRead } = await handle.read(buffer, 0, length, this.#bytes)
        if (bytesRead === 0) break
        this.update(buffer.subarray(0, bytesRead))
      }
    } finally {
      await handle.close()
    }
  }

  finish(): FileChecksums {
    return { sha256: this.#sha256.digest('hex'), blocks: this.#blocks.finish() }
  }
}
