import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { plus } from '../../base/clock.ts'
import type { DerivedObjects } from '../blobs/derived-objects.ts'
import { removeBuilt } from '../downloads/exports/built-file.ts'
import { tryLockExports } from '../downloads/exports/exports-lock.ts'

export interface RemovedFiles {
  files: number
  bytes: number
}

/**
 * Removes exports that were neither built nor read since the given time. They are rebuilt for the next
 * request. The time of the last read is the file's access time (atime), which Linux updates at least once a
 * day; on a volume mounted with `noatime` it is the time of the build.
 */
export async function removeOldExports(
  snapshots: string,
  before: Date,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<RemovedFiles> {
  const removed: RemovedFiles = { files: 0, bytes: 0 }
  for (const name of await namesIn(snapshots)) {
    const folder = join(snapshots, name)
    const old: { path: string; bytes: number }[] = []
    for (const file of await namesIn(join(folder, 'exports'))) {
      if (file === 'lock' || file.endsWith('.meta.json') || file.includes('.partial-')) continue
      const path = join(folder, 'exports', file)
      const stats = await stat(path).catch(() => null)
      if (!stats?.isFile() || Math.max(stats.atimeMs, stats.mtimeMs) >= before.getTime()) continue
      old.push({ path, bytes: stats.size })
    }
    if (old.length === 0) continue
    // A builder may be reading an export to create a compressed one from it.
    const unlock = dryRun ? () => {} : tryLockExports(folder)
    if (!unlock) continue
    try {
      for (const { path, bytes } of old) {
        if (!dryRun) await removeBuilt(path)
        removed.files++
        removed.bytes += bytes
      }
    } finally {
      unlock()
    }
  }
  return removed
}

interface BucketLimits {
  /** Exports that were built before are removed: object stores do not record when an object was read. */
  before: Date
  now: Date
  /** How long the bytes of a removed export are kept, because other nodes may be sending them, in ms. */
  grace: number
}

/** The same in a bucket. The bytes of the exports that are counted as removed are deleted by a later call. */
export async function removeOldObjects(
  derived: DerivedObjects,
  { before, now, grace }: BucketLimits,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<RemovedFiles> {
  const { old, removed } = await derived.listExports(before)
  if (!dryRun) {
    for (const { snapshot, name } of old) await derived.retire(snapshot, name, now)
    const unread = plus(now, -grace)
    for (const tombstone of removed) {
      if (tombstone.removedAt <= unread) await derived.deleteRetired(tombstone, unread)
    }
  }
  return { files: old.length, bytes: old.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** Removes mails that were written to the outbox before the given time. */
export async function removeOldMails(
  outbox: string,
  before: Date,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<RemovedFiles> {
  const removed: RemovedFiles = { files: 0, bytes: 0 }
  for (const name of await namesIn(outbox)) {
    if (!/\.eml(\.part)?$/.test(name)) continue
    const path = join(outbox, name)
    const stats = await stat(path).catch(() => null)
    if (!stats?.isFile() || stats.mtimeMs >= before.getTime()) continue
    if (!dryRun) await rm(path, { force: true })
    removed.files++
    removed.bytes += stats.size
  }
  return removed
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}
