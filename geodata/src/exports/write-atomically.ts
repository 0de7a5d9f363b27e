import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checksum } from '../snapshot/checksum.ts'
import { partialPath, renameDurably, syncFile } from '../write-durably.ts'
import { ExportError, isDiskFull } from './export-error.ts'

export interface BuiltFile {
  bytes: number
  sha256: string
}

/**
 * `writeDurably` for large files: `write` fills a partial file, which gets its name once it is complete and
 * synced, so a reader never sees half a file. `write` returns the checksum if it knows it.
 */
export async function writeAtomically(
  path: string,
  write: (partial: string) => Promise<string | undefined>,
): Promise<BuiltFile> {
  const partial = partialPath(path, process.pid)
  try {
    const sha256 = (await write(partial)) ?? (await checksum(partial))
    const bytes = await syncFile(partial)
    await renameDurably(partial, path)
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
