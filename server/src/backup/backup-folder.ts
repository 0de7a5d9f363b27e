import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '@wayleave/geodata/snapshot'
import { tryLock } from '../locks/file-lock.ts'
import { type BackupRecord, RECORD_FILE, readRecord } from './backup-record.ts'
import { CopyError } from './copy-error.ts'

const PARTIAL = '.partial-'

export interface Generation {
  /** The backup's time in the format of its folder's name: `2026-01-31T12-00-00.000Z`. */
  name: string
  folder: string
}

/**
 * The folder that holds the backups:
 *
 * - `backups/<time>/` has the state of the database at one moment and `backup.json`, the record;
 * - `snapshots/` has each snapshot once, shared by all backups that reference it;
 * - `revoked.jsonl` has the hashes of secrets that must not work again, whichever backup is restored.
 */
export class BackupFolder {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  get snapshots(): string {
    return join(this.root, 'snapshots')
  }

  get backups(): string {
    return join(this.root, 'backups')
  }

  get revocations(): string {
    return join(this.root, 'revoked.jsonl')
  }

  /** Takes the lock for a single writer, and removes what a killed writer left behind. */
  async openForWriting(): Promise<() => void> {
    for (const folder of [this.root, this.snapshots, this.backups]) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
    }
    const unlock = tryLock(join(this.root, 'backup.lock'))
    if (!unlock) throw new CopyError(`Another backup writes to ${this.root}. Wait until it has finished.`)
    try {
      for (const folder of [this.snapshots, this.backups]) {
        for (const name of await readdir(folder)) {
          if (name.startsWith(PARTIAL)) await rm(join(folder, name), { recursive: true, force: true })
        }
      }
      return unlock
    } catch (error) {
      unlock()
      throw error
    }
  }

  /** Oldest first. */
  async generations(): Promise<Generation[]> {
    const names = await readdir(this.backups).catch(() => [] as string[])
    return names
      .filter((name) => !name.startsWith('.'))
      .sort()
      .map((name) => ({ name, folder: join(this.backups, name) }))
  }

  /** The newest backup, or the newest one made at or before a given time. */
  async find(at: Date | null): Promise<{ generation: Generation; record: BackupRecord }> {
    const generations = await this.generations()
    if (generations.length === 0) throw new CopyError(`There is no backup in ${this.root}.`)
    const limit = at === null ? null : generationName(at)
    const generation = generations.findLast(({ name }) => limit === null || name <= limit)
    if (!generation) {
      throw new CopyError(
        `The oldest backup in ${this.root} is ${generations[0]!.name}, after the time that was named.`,
      )
    }
    return { generation, record: await this.read(generation) }
  }

  async read({ folder, name }: Generation): Promise<BackupRecord> {
    return readRecord(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new CopyError(`The backup ${name} has no ${RECORD_FILE}.`)
      throw error
    })
  }

  async begin(at: Date): Promise<Generation> {
    const name = generationName(at)
    const folder = join(this.backups, `${PARTIAL}${name}`)
    await mkdir(join(folder, 'tables'), { recursive: true, mode: 0o700 })
    return { name, folder }
  }

  /** Makes the backup visible by a rename. All files in the folder have been synced before. */
  async finish({ name, folder }: Generation): Promise<Generation> {
    const finished = join(this.backups, name)
    await syncFolder(join(folder, 'tables'))
    await syncFolder(folder)
    await rename(folder, finished)
    await syncFolder(this.backups)
    return { name, folder: finished }
  }

  /** Keeps the newest backups and the snapshots they reference. Returns the names of the removed backups. */
  async prune(keep: number): Promise<string[]> {
    const generations = await this.generations()
    const removed = generations.slice(0, Math.max(0, generations.length - keep))
    for (const { name, folder } of removed) {
      const partial = join(this.backups, `${PARTIAL}${name}`)
      await rename(folder, partial)
      await syncFolder(this.backups)
      await rm(partial, { recursive: true, force: true })
    }
    const named = new Set<string>()
    for (const generation of await this.generations()) {
      for (const { name } of (await this.read(generation)).snapshots) named.add(name)
    }
    for (const name of await readdir(this.snapshots)) {
      if (!named.has(name)) await rm(join(this.snapshots, name), { recursive: true, force: true })
    }
    return removed.map(({ name }) => name)
  }
}

/** Some file systems do not allow a colon in file names. */
function generationName(at: Date): string {
  return at.toISOString().replaceAll(':', '-')
}
