import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '@wayleave/geodata/exports'
import { syncFolder } from '@wayleave/geodata/snapshot'
import type { Config } from '../../../base/settings/config.ts'
import { CopyError } from '../copy-error.ts'
import { timeOfGeneration } from '../find-backup.ts'

/** Marks that a restore into the folder has begun and not finished. */
export interface UnfinishedRestore {
  /** Random: it is also in the mark in PostgreSQL, and in the event of the restored database. */
  id: string
  source: string
  backup: string
  /** What is moved aside first, and the name of the folder (and of the PostgreSQL schema) it is moved to. */
  aside: { name: string; entries: string[] } | null
  hasOwnRevocations: boolean
}

/** Marks that the folder's SQLite database was copied to PostgreSQL and is no longer the current one. */
export interface MovedDatabase {
  to: string
  at: string
}

const RESTORE = 'restore-unfinished.json'
const MOVED = 'database-moved.json'

/** Refuses to open a folder that is only partly restored, or whose SQLite database was moved away. */
export function requireUsableFolder({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): void {
  const restore = readUnfinishedRestore(dataDir)
  if (restore) {
    throw new CopyError(
      `A restore into ${dataDir} did not finish. Run it again: ${continuation(dataDir, restore)}`,
    )
  }
  const moved = databaseUrl ? null : readMark<MovedDatabase>(dataDir, MOVED)
  if (moved) {
    throw new CopyError(
      `The control database of ${dataDir} was moved to ${moved.to} on ${moved.at}. Set WAYLEAVE_DATABASE_URL. To return to the old state of the SQLite database, remove ${join(dataDir, MOVED)}.`,
    )
  }
}

/** The command that continues a restore. */
export function continuation(
  dataDir: string,
  { source, backup }: Pick<UnfinishedRestore, 'source' | 'backup'>,
): string {
  const at = timeOfGeneration(backup)
  return `wayleave restore ${source}${at ? ` --at ${at.toISOString()}` : ''} --data-dir ${dataDir}`
}

export function readUnfinishedRestore(dataDir: string): UnfinishedRestore | null {
  return readMark<UnfinishedRestore>(dataDir, RESTORE)
}

export async function markUnfinishedRestore(dataDir: string, mark: UnfinishedRestore): Promise<void> {
  await writeMark(dataDir, RESTORE, mark)
}

export async function unmarkRestore(dataDir: string): Promise<void> {
  await rm(join(dataDir, RESTORE), { force: true })
  await syncFolder(dataDir)
}

export async function markMovedDatabase(dataDir: string, mark: MovedDatabase): Promise<void> {
  await writeMark(dataDir, MOVED, mark)
}

export async function unmarkMovedDatabase(dataDir: string): Promise<void> {
  await rm(join(dataDir, MOVED), { force: true })
}

async function writeMark(dataDir: string, name: string, mark: object): Promise<void> {
  await writeAtomically(join(dataDir, name), async (partial) => {
    await writeFile(partial, `${JSON.stringify(mark)}\n`, { mode: 0o600 })
    return undefined
  })
}

function readMark<T>(dataDir: string, name: string): T | null {
  const path = join(dataDir, name)
  if (!existsSync(path)) return null
  return JSON.parse(readFileSync(path, 'utf8')) as T
}
