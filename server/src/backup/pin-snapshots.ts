import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { MINUTE } from '../clock.ts'
import { randomBase62 } from '../id.ts'
import { tryLock } from '../locks/file-lock.ts'
import type { SnapshotFiles } from './copy-snapshot.ts'

/** Errors from file systems without hard links, or if the snapshots are on a separate volume. */
const CANNOT_LINK = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** A folder younger than this may not have its lock file yet. */
const YOUNG = MINUTE

/**
 * Pins snapshots while they are copied. Each file gets a second name, a hard link, in the backup's own
 * folder: any process that removes the snapshot meanwhile (unpublish, WAYLEAVE_KEEP_VERSIONS, a sweep,
 * another node) removes only the first name, and needs no knowledge of the pins.
 */
export class PinnedSnapshots {
  readonly #folder: string
  readonly #unlock: () => void
  readonly #pinned = new Map<string, string>()

  private constructor(folder: string, unlock: () => void) {
    this.#folder = folder
    this.#unlock = unlock
  }

  static async open(dataDir: string): Promise<PinnedSnapshots> {
    await sweepPins(dataDir)
    const folder = join(pinsFolder(dataDir), randomBase62(12))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const unlock = tryLock(join(folder, 'lock'))
    if (!unlock) throw new Error(`a new folder is locked: ${folder}`)
    return new PinnedSnapshots(folder, unlock)
  }

  /** Returns the folder to copy from. Throws ENOENT if the snapshot has been removed or is being removed. */
  async pin(name: string, source: string, files: SnapshotFiles): Promise<string> {
    const before = this.#pinned.get(name)
    if (before !== undefined) return before
    const folder = join(this.#folder, name)
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

  async close(): Promise<void> {
    this.#unlock()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Removes the pins of backups that were killed, which is the case if their locks are free. */
export async function sweepPins(dataDir: string): Promise<void> {
  const root = pinsFolder(dataDir)
  for (const name of await readdir(root).catch(() => [] as string[])) {
    const folder = join(root, name)
    let unlock: (() => void) | null = null
    try {
      if (Date.now() - (await stat(folder)).birthtimeMs < YOUNG) continue
      unlock = tryLock(join(folder, 'lock'))
    } catch {
      // The folder was removed after it was listed: its backup has just finished.
    }
    if (!unlock) continue
    unlock()
    await rm(folder, { recursive: true, force: true })
  }
}

function pinsFolder(dataDir: string): string {
  return join(dataDir, 'backup-pins')
}
