import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably, renameDurably } from '@wayleave/geodata/write-durably.ts'
import type { Blobs } from './blobs.ts'

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
    return readdir(this.#root).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
  }

  async delete(snapshot: string): Promise<void> {
    await rm(this.#path(snapshot), { recursive: true, force: true })
  }

  #path(snapshot: string): string {
    return join(this.#root, checked(snapshot))
  }
}

/** Names are made by us; a slip must still never lead out of the folder. */
function checked(name: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) throw new Error(`not a blob name: ${name}`)
  return name
}
