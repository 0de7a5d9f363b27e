import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '@wayleave/geodata/exports'
import { syncFolder } from '@wayleave/geodata/snapshot'
import { tryLock } from '../../../base/locks/file-lock.ts'
import { type BackupRecord, printRecord, RECORD_FILE, readRecord } from '../backup-record.ts'
import { CopyError } from '../copy-error.ts'
import { inOrder, outdated } from '../find-backup.ts'
import { appendRevocations, type Revocation, readRevocations } from '../revocations/revocations.ts'
import type { BackupTarget, Generation, NewGeneration } from './backup-target.ts'
import { FolderSnapshots } from './folder-snapshots.ts'
import { openScratchIn, scratchesInUse } from './scratch-folder.ts'

const PARTIAL = '.partial-'
/** Not PARTIAL, which every backup removes: a scratch folder is in use beside it. */
const SCRATCH = '.scratch-'
/** A folder for each reader, with a lock and a file that has the name of the backup. */
const READING = '.reading-'
const READ_BACKUP = 'backup'

/** A folder that holds backups. */
export class BackupFolder implements BackupTarget {
  readonly root: string
  readonly copies: FolderSnapshots

  constructor(root: string) {
    this.root = root
    this.copies = new FolderSnapshots(this.snapshots)
  }

  get location(): string {
    return this.root
  }

  get folder(): string {
    return this.root
  }

  get snapshots(): string {
    return join(this.root, 'snapshots')
  }

  get backups(): string {
    return join(this.root, 'backups')
  }

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

  async generations(): Promise<Generation[]> {
    const names = await readdir(this.backups).catch(() => [] as string[])
    const finished = names.filter((name) => !name.startsWith('.'))
    return inOrder(finished.map((name) => ({ name, folder: join(this.backups, name) })))
  }

  async read({ folder, name }: Generation): Promise<BackupRecord> {
    return readRecord(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new CopyError(`The backup ${name} has no ${RECORD_FILE}.`)
      throw error
    })
  }

  async begin(name: string): Promise<NewGeneration> {
    const folder = join(this.backups, `${PARTIAL}${name}`)
    await mkdir(join(folder, 'tables'), { recursive: true, mode: 0o700 })
    return { name, folder }
  }

  /** Makes the backup visible by a rename. All files in the folder have been synced before. */
  async finish({ name, folder }: NewGeneration, record: BackupRecord): Promise<Generation> {
    await writeAtomically(join(folder, RECORD_FILE), async (partial) => {
      await writeFile(partial, printRecord(record), { mode: 0o600 })
      return undefined
    })
    const finished = join(this.backups, name)
    await syncFolder(join(folder, 'tables'))
    await syncFolder(folder)
    await rename(folder, finished)
    await syncFolder(this.backups)
    return { name, folder: finished }
  }

  async abandon({ folder }: NewGeneration): Promise<void> {
    await rm(folder, { recursive: true, force: true })
  }

  async prune(keep: number, made: Generation): Promise<string[]> {
    const held = await this.#held()
    const removed = outdated(await this.generations(), keep, made).filter(({ name }) => !held.has(name))
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

  readRevocations(): Promise<Map<string, Revocation>> {
    return readRevocations(this.#revocations)
  }

  appendRevocations(revocations: Revocation[]): Promise<void> {
    return appendRevocations(this.#revocations, revocations)
  }

  async withTables<T>(
    { name, folder }: Generation,
    _record: BackupRecord,
    work: (folder: string) => Promise<T>,
  ): Promise<T> {
    const release = await this.#hold(name)
    return work(folder).finally(release)
  }

  async withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const scratch = await openScratchIn(this.backups, SCRATCH)
    return work(scratch.folder).finally(() => scratch.close())
  }

  async close(): Promise<void> {}

  /** Prevents `prune` from removing a backup that is read. On a volume that can only be read, nothing can. */
  async #hold(name: string): Promise<() => Promise<void>> {
    const hold = await openScratchIn(this.backups, READING).catch(() => null)
    if (!hold) return async () => {}
    await writeFile(join(hold.folder, READ_BACKUP), name, { mode: 0o600 }).catch(() => {})
    return () => hold.close()
  }

  /** The names of the backups that are being read. */
  async #held(): Promise<Set<string>> {
    const held = new Set<string>()
    for (const folder of await scratchesInUse(this.backups, READING)) {
      const name = await readFile(join(folder, READ_BACKUP), 'utf8').catch(() => null)
      if (name !== null) held.add(name)
    }
    return held
  }

  get #revocations(): string {
    return join(this.root, 'revoked.jsonl')
  }
}
