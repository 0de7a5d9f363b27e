import { open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checksum } from '../snapshot/checksum.ts'
import { ExportError, isDiskFull } from './export-error.ts'

export interface BuiltFile {
  bytes: number
  sha256: string
}

/** The name a file has until it is whole. The process id keeps two builders apart. */
export function partialPath(path: string, pid: number): string {
  return `${path}.partial-${pid}`
}

/**
 * Lets `write` fill a partial file, and gives it its name once it is whole and on the disk: a reader never
 * meets half a file, whatever fails in between. `write` answers the checksum if it knows it.
 */
export async function writeAtomically(
  path: string,
  write: (partial: string) => Promise<string | undefined>,
): Promise<BuiltFile> {
  const partial = partialPath(path, process.pid)
  try {
    const sha256 = (await write(partial)) ?? (await checksum(partial))
    const handle = await open(partial, 'r+')
    let bytes: number
    try {
      await handle.sync()
      bytes = (await handle.stat()).size
    } finally {
      await handle.close()
    }
    await rename(partial, path)
    await syncFolder(dirname(path))
    return { bytes, sha256 }
  } catch (error) {
    await removePartial(path, process.pid)
    if (isDiskFull(error)) throw new ExportError('disk-full', 'The disk is full.', { cause: error })
    throw error
  }
}

/** SQLite and the shapefile writer keep files of their own beside the partial one. */
export async function removePartial(path: string, pid: number): Promise<void> {
  const partial = partialPath(path, pid)
  for (const suffix of ['', '-journal', '.parts']) {
    await rm(partial + suffix, { recursive: true, force: true })
  }
}

/**
 * Removes what builders that no longer run have left in a folder: a process that was killed could not. To be
 * called when the folder is opened.
 */
export async function removeStalePartials(folder: string): Promise<void> {
  // A snapshot that nobody has downloaded has no such folder.
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const pid = /\.partial-(\d+)/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(folder, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Without it a power cut may undo the renames in the folder. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
