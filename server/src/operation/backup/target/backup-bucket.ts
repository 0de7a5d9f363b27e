import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomBase62 } from '../../../base/id.ts'
import { downloadObject } from '../../../base/storage/download-object.ts'
import { ObjectMissingError, type ObjectStore } from '../../../base/storage/object-store.ts'
import { type BackupRecord, parseRecord, printRecord, RECORD_FILE, tableFile } from '../backup-record.ts'
import { CopyError } from '../copy-error.ts'
import { inOrder, outdated } from '../find-backup.ts'
import { parseRevocations, printRevocations, type Revocation } from '../revocations/revocations.ts'
import type { BackupTarget, Generation, NewGeneration } from './backup-target.ts'
import { keepLease, readLease, writeLease } from './bucket-lease.ts'
import { BucketSnapshots } from './bucket-snapshots.ts'
import type { ScratchFolder } from './scratch-folder.ts'

const BACKUPS = 'backups/'
const REVOCATIONS = 'revoked.jsonl'
const LOCK = 'backup.lock'
/** A lease for each reader: `reading/<backup>/<id>`. */
const READING = 'reading/'
/** Two writers that begin at the same instant both write the lock; after this pause both see the later one. */
const LOCK_SETTLING = 500

/**
 * A bucket that holds backups, with the same layout as a folder. The record is written last and removed first: without
 * it, there is no backup.
 */
export class BackupBucket implements BackupTarget {
  readonly location: string
  readonly copies: BucketSnapshots
  readonly #store: ObjectStore
  readonly #scratch: ScratchFolder
  readonly #settlingMs: number

  /** `scratch` is on a disk with room for the largest file. */
  constructor(store: ObjectStore, scratch: ScratchFolder, settlingMs = LOCK_SETTLING) {
    this.#store = store
    this.#scratch = scratch
    this.#settlingMs = settlingMs
    this.location = store.location
    this.copies = new BucketSnapshots(store, scratch.folder)
  }

  get folder(): string {
    return this.#scratch.folder
  }

  async openForWriting(): Promise<() => Promise<void>> {
    const unlock = await this.#lock()
    try {
      const generations = await this.generations()
      const finished = new Set(generations.map(({ name }) => name))
      for (const name of await this.#store.listFolders(BACKUPS)) {
        if (!finished.has(name)) await this.#remove(name)
      }
      const newest = generations.at(-1)
      if (newest) this.copies.know((await this.read(newest)).snapshots)
      return unlock
    } catch (error) {
      await unlock()
      throw error
    }
  }

  async generations(): Promise<Generation[]> {
    const generations: Generation[] = []
    for await (const { key } of this.#store.list(BACKUPS)) {
      const [, name, file] = key.split('/')
      if (file === RECORD_FILE) generations.push({ name: name!, folder: `${this.location}${BACKUPS}${name}` })
    }
    return inOrder(generations)
  }

  async read({ name, folder }: Generation): Promise<BackupRecord> {
    const bytes = await this.#store.read(keyOf(name, RECORD_FILE)).catch((error: unknown) => {
      if (error instanceof ObjectMissingError)
        throw new CopyError(`The backup ${name} has no ${RECORD_FILE}.`)
      throw error
    })
    return parseRecord(bytes.toString('utf8'), `${folder}/${RECORD_FILE}`)
  }

  async begin(name: string): Promise<NewGeneration> {
    const folder = join(this.#scratch.folder, name)
    await mkdir(join(folder, 'tables'), { recursive: true, mode: 0o700 })
    return { name, folder }
  }

  async finish({ name, folder }: NewGeneration, record: BackupRecord): Promise<Generation> {
    for (const { name: table } of record.database.tables) {
      const path = tableFile(folder, table)
      await this.#store.write(tableKey(name, table), { path, bytes: (await stat(path)).size })
    }
    await this.#store.write(keyOf(name, RECORD_FILE), Buffer.from(printRecord(record)))
    await rm(folder, { recursive: true, force: true })
    return { name, folder: `${this.location}${BACKUPS}${name}` }
  }

  async abandon({ folder }: NewGeneration): Promise<void> {
    await rm(folder, { recursive: true, force: true })
  }

  async prune(keep: number, made: Generation): Promise<string[]> {
    const held = await this.#held()
    const removed = outdated(await this.generations(), keep, made).filter(({ name }) => !held.has(name))
    for (const { name } of removed) await this.#remove(name)
    const named = new Set<string>()
    for (const generation of await this.generations()) {
      for (const { name } of (await this.read(generation)).snapshots) named.add(name)
    }
    await this.copies.prune(named)
    return removed.map(({ name }) => name)
  }

  async readRevocations(): Promise<Map<string, Revocation>> {
    const bytes = await this.#store.read(REVOCATIONS).catch((error: unknown) => {
      if (error instanceof ObjectMissingError) return ''
      throw error
    })
    return parseRevocations(bytes.toString('utf8'))
  }

  /** Objects cannot be appended to: the list is written again. */
  async appendRevocations(revocations: Revocation[]): Promise<void> {
    if (revocations.length === 0) return
    const listed = await this.readRevocations()
    for (const revocation of revocations) listed.set(revocation.secretHash, revocation)
    await this.#store.write(REVOCATIONS, Buffer.from(printRevocations(listed.values())))
  }

  async withTables<T>(
    { name }: Generation,
    { database }: BackupRecord,
    work: (folder: string) => Promise<T>,
  ): Promise<T> {
    const release = await this.#hold(name)
    return this.withScratch(async (folder) => {
      await mkdir(join(folder, 'tables'), { mode: 0o700 })
      for (const { name: table } of database.tables) {
        const object = await this.#store.head(tableKey(name, table))
        // The check of the backup names a table that is missing.
        if (object) await downloadObject(this.#store, object, tableFile(folder, table))
      }
      return work(folder)
    }).finally(release)
  }

  async withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(this.#scratch.folder, 'work-'))
    return work(folder).finally(() => rm(folder, { recursive: true, force: true }))
  }

  async close(): Promise<void> {
    await this.#store.close()
    await this.#scratch.close()
  }

  async #remove(name: string): Promise<void> {
    await this.#store.delete([keyOf(name, RECORD_FILE)])
    const keys: string[] = []
    for await (const { key } of this.#store.list(`${BACKUPS}${name}/`)) keys.push(key)
    await this.#store.delete(keys)
  }

  async #lock(): Promise<() => Promise<void>> {
    const id = randomBase62(16)
    if ((await readLease(this.#store, LOCK)) !== null) throw this.#isLocked()
    await writeLease(this.#store, LOCK, id)
    await sleep(this.#settlingMs)
    if ((await readLease(this.#store, LOCK))?.id !== id) throw this.#isLocked()
    return keepLease(this.#store, LOCK, id)
  }

  /** Prevents `prune` from removing a backup that is read. Credentials that can only read cannot prevent it. */
  async #hold(name: string): Promise<() => Promise<void>> {
    const id = randomBase62(16)
    const key = `${READING}${name}/${id}`
    try {
      await writeLease(this.#store, key, id)
    } catch {
      return async () => {}
    }
    const release = keepLease(this.#store, key, id)
    // A lease that cannot be deleted ends by itself.
    return () => release().catch(() => {})
  }

  /** The names of the backups that are being read. Removes the leases of killed readers. */
  async #held(): Promise<Set<string>> {
    const held = new Set<string>()
    for await (const { key } of this.#store.list(READING)) {
      if ((await readLease(this.#store, key)) !== null) held.add(key.split('/')[1]!)
      else await this.#store.delete([key])
    }
    return held
  }

  #isLocked(): CopyError {
    return new CopyError(
      `Another backup writes to ${this.location}. Wait until it has finished. If it was killed, its lock ends after ten minutes; to begin earlier, delete the object ${LOCK}.`,
    )
  }
}

function keyOf(generation: string, file: string): string {
  return `${BACKUPS}${generation}/${file}`
}

function tableKey(generation: string, table: string): string {
  return keyOf(generation, `tables/${table}.jsonl.zst`)
}
