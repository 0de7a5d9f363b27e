import { link, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { openScratch, type ScratchFolder } from './target/scratch-folder.ts'
import type { SnapshotFiles } from './target/snapshot-copies.ts'

/** Errors from file systems without hard links, or if the snapshots are on a separate volume. */
const CANNOT_LINK = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Pins snapshots while they are copied. Each file gets a second name, a hard link, in the backup's own
 * folder: any process that removes the snapshot meanwhile (unpublish, WAYLEAVE_KEEP_VERSIONS, a sweep,
 * another node) removes only the first name, and needs no knowledge of the pins.
 */
export class PinnedSnapshots {
  readonly #scratch: ScratchFolder
  readonly #pinned = new Map<string, string>()

  private constructor(scratch: ScratchFolder) {
    this.#scratch = scratch
  }

  static async open(dataDir: string): Promise<PinnedSnapshots> {
    return new PinnedSnapshots(await openScratch(dataDir))
  }

  /** Returns the folder to copy from. Throws ENOENT if the snapshot has been removed or is being removed. */
  async pin(name: string, source: string, files: SnapshotFiles): Promise<string> {
    const before = this.#pinned.get(name)
    if (before !== undefined) return before
    const folder = join(this.#scratch.folder, name)
    await mkdir(folder, { mode: 0o700 })
    try {
      for (const file of [...Object.keys(files), SNAPSHOT_FILES.manifest]) {
        await link(join(source, file), join(folder, file))
      }
      this.#pinned.set(name, folder)
      return folder
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      if (!CANNOT_LINK.has((error as NodeJS.ErrnoException).code ?? '')) throw error
      // Copy from the original folder. If it is removed meanwhile, the backup starts over.
      return source
    }
  }

  close(): Promise<void> {
    return this.#scratch.close()
  }
}
