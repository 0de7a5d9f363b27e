import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MINUTE } from '../../../base/clock.ts'
import { randomBase62 } from '../../../base/id.ts'
import { tryLock } from '../../../base/locks/file-lock.ts'

/** A folder younger than this may not have its lock file yet. */
const YOUNG = MINUTE

/** A folder for the work of one backup or restore. */
export interface ScratchFolder {
  folder: string
  close(): Promise<void>
}

/** Opens one in the data folder. */
export function openScratch(dataDir: string): Promise<ScratchFolder> {
  return openScratchIn(scratchRoot(dataDir))
}

export async function openScratchIn(root: string, prefix = ''): Promise<ScratchFolder> {
  await sweep(root, prefix)
  const folder = join(root, prefix + randomBase62(12))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unlock = tryLock(join(folder, 'lock'))
  if (!unlock) throw new Error(`a new folder is locked: ${folder}`)
  return {
    folder,
    close: async () => {
      unlock()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Removes the folders of processes that were killed, which is the case if their locks are free. */
export function sweepScratch(dataDir: string): Promise<void> {
  return sweep(scratchRoot(dataDir), '')
}

/** The folders whose processes live, after those of killed processes have been removed. */
export async function scratchesInUse(root: string, prefix: string): Promise<string[]> {
  await sweep(root, prefix)
  const names = await readdir(root)
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(root, name))
}

async function sweep(root: string, prefix: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [] as string[])) {
    if (!name.startsWith(prefix)) continue
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

function scratchRoot(dataDir: string): string {
  return join(dataDir, 'backup-pins')
}
