import { rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError, isDiskFull } from '../export-error.ts'
import { checksum } from '../snapshot/checksum.ts'
import { partialPath, renameDurably, syncFile } from '../write-durably.ts'

export interface BuiltFile {
  bytes: number
  sha256: string
}

/**
 * `writeDurably` for large files: `write` fills a partial file, which is renamed once it is complete and
 * synced, so a reader never sees an incomplete file. `write` returns the checksum if it knows it.
 */
export async function writeAtomically(
  path: string,
  write: (partial: string) => Promise<string | undefined>,
): Promise<BuiltFile> {
  const partial = partialPath(path, process.pid)
  try {
    const known = await write(partial)
    // The disk writes while the checksum is computed.
    const [sha256, bytes] = await Promise.all([known ?? checksum(partial), syncFile(partial)])
    await renameDurably(partial, path)
    return { bytes, sha256 }
  } catch (error) {
    await removePartial(path, process.pid)
    if (isDiskFull(error)) throw new ExportError('disk-full', 'The disk is full.', { cause: error })
    throw error
  }
}

/** SQLite, the shapefile writer and tiles have additional files next to the partial one. */
const PARTIAL_SUFFIXES = ['', '-journal', '.parts']

/** Removes the files of a process that has ended. */
export async function removePartial(path: string, pid: number): Promise<void> {
  const partial = partialPath(path, pid)
  for (const suffix of PARTIAL_SUFFIXES) {
    await rm(partial + suffix, { recursive: true, force: true })
  }
}

/** The same for this process, which ends. */
export function removePartialNow(path: string): void {
  for (const suffix of PARTIAL_SUFFIXES) {
    rmSync(partialPath(path, process.pid) + suffix, { recursive: true, force: true })
  }
}

/**
 * Removes the partial files that processes which no longer run have left in a folder, for example because
 * they were killed. Call it when the folder is opened.
 */
export async function removeStalePartials(folder: string): Promise<void> {
  // A snapshot without downloads has no such folder.
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
