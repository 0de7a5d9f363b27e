import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The temporary name of a file until it is complete. The process id prevents conflicts of two writers. */
export function partialPath(path: string, pid: number): string {
  return `${path}.partial-${pid}`
}

/**
 * Writes a small file atomically, even in case of a power cut: the bytes are synced under a temporary name,
 * the file is renamed, and the folder is synced.
 */
export async function writeDurably(
  path: string,
  content: string | Uint8Array,
  { mode = 0o666, partial = partialPath(path, process.pid) } = {},
): Promise<void> {
  try {
    const handle = await open(partial, 'w', mode)
    await useHandle(handle, async () => {
      await handle.writeFile(content)
      await handle.sync()
    })
    await renameDurably(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** Renames a synced file or folder. Without syncing the parent folder, a power cut may undo the rename. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** `mkdir -p` whose result survives a power cut: each folder that gets a new entry is synced. */
export async function makeFolderDurably(path: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) return
  for (let made = path; ; made = dirname(made)) {
    await syncFolder(dirname(made))
    if (made === first || dirname(made) === made) return
  }
}

/** Waits until the file's bytes are on disk, and returns its size. */
export async function syncFile(path: string): Promise<number> {
  // Opened for writing, because some network file systems do not sync a read-only descriptor.
  const handle = await open(path, 'r+')
  return useHandle(handle, async () => {
    await handle.sync()
    return (await handle.stat()).size
  })
}

/** Waits until the folder's entries (its file names) are on disk. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await useHandle(handle, () => handle.sync())
}

async function useHandle<T>(handle: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await handle.close()
  }
}
