import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably, renameDurably } from '@wayleave/geodata/write-durably.ts'
import type { Blobs, DiscardedSnapshot } from './blobs.ts'
import { isSnapshotName } from './snapshot-name.ts'

/** Beside the snapshots, so that a rename suffices even if `snapshots/` is a volume of its own. */
const TRASH = '.trash'
const OWN_FOLDERS: readonly string[] = ['.staging', TRASH]

/** Snapshots as folders of one folder. `writeWhole` is a rename: both must lie on one file system. */
export class FolderBlobs implements Blobs {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  async localFolder(snapshot: string): Promise<string> {
    return this.#path(snapshot)
  }

  async writeWhole(snapshot: string, folder: string): Promise<void> {
    await makeFolderDurably(this.#root, 0o700)
    await renameDurably(folder, this.#path(snapshot))
  }

  async list(): Promise<string[]> {
    return (await namesIn(this.#root)).filter(isSnapshotName)
  }

  async listForeign(): Promise<string[]> {
    return (await namesIn(this.#root)).filter((name) => !isSnapshotName(name) && !OWN_FOLDERS.includes(name))
  }

  async placedAt(snapshot: string): Promise<Date | null> {
    // The change time, not the modification time: a rename moves the first and keeps the second.
    return stat(this.#path(snapshot)).then(({ ctime }) => ctime, nullIfMissing)
  }

  async discard(snapshot: string, at: Date): Promise<void> {
    await makeFolderDurably(join(this.#root, TRASH), 0o700)
    await rename(this.#path(snapshot), this.#trashPath(entryName(snapshot, at))).catch(nullIfMissing)
  }

  async listTrash(): Promise<DiscardedSnapshot[]> {
    return (await namesIn(join(this.#root, TRASH))).flatMap((entry) => parseEntry(entry) ?? [])
  }

  async restore({ entry, snapshot }: DiscardedSnapshot): Promise<void> {
    await renameDurably(this.#trashPath(entry), this.#path(snapshot))
  }

  async deleteDiscarded({ entry }: DiscardedSnapshot): Promise<void> {
    await rm(this.#trashPath(entry), { recursive: true, force: true })
  }

  #path(snapshot: string): string {
    return join(this.#root, checked(snapshot))
  }

  #trashPath(entry: string): string {
    return join(this.#root, TRASH, checked(entry))
  }
}

/** `2026-03-01T12-00-00.000Z.places_…`: the time stands in the name, where no copy of the folder loses it. */
function entryName(snapshot: string, at: Date): string {
  return `${at.toISOString().replaceAll(':', '-')}.${snapshot}`
}

function parseEntry(entry: string): DiscardedSnapshot | null {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.([A-Za-z0-9_]+)$/.exec(entry)
  if (!match) return null
  const [, day, hour, minute, second, snapshot = ''] = match
  const discardedAt = new Date(`${day}T${hour}:${minute}:${second}`)
  if (Number.isNaN(discardedAt.getTime()) || !isSnapshotName(snapshot)) return null
  return { entry, snapshot, discardedAt }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(nullIfMissing)) ?? []
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** Names are made by us; a wrong one must still never lead out of the folder. */
function checked(name: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) throw new Error(`not a blob name: ${name}`)
  return name
}
