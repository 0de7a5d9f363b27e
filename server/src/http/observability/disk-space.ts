import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

const FRESH_MS = 1000

export interface Space {
  /** Bytes that this process may still write. */
  free: number
  size: number
}

/**
 * The free space on a folder's disk. Reading returns the last value at once and refreshes it in the
 * background: a network file system that hangs must not block the metrics that would reveal it.
 */
export class DiskSpace {
  readonly #folder: string
  #space: Space
  #readAt = performance.now()
  #isReading = false

  constructor(folder: string) {
    this.#folder = folder
    this.#space = spaceOf(statfsSync(folder))
  }

  read(): Space {
    if (!this.#isReading && performance.now() - this.#readAt > FRESH_MS) void this.#refresh()
    return this.#space
  }

  async #refresh(): Promise<void> {
    this.#isReading = true
    try {
      this.#space = spaceOf(await statfs(this.#folder))
    } catch {
      // Keep the last value: other checks report a missing folder.
    } finally {
      this.#readAt = performance.now()
      this.#isReading = false
    }
  }
}

function spaceOf({ bavail, blocks, bsize }: { bavail: number; blocks: number; bsize: number }): Space {
  return { free: bavail * bsize, size: blocks * bsize }
}
