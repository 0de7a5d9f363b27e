import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeStalePartials } from '@wayleave/geodata/exports'
import { unfinishedExports } from './built-file.ts'
import { tryLockExports } from './exports-lock.ts'

/**
 * Removes what killed builds left in a snapshot's folder, unless a build holds the lock, which removes it itself.
 *
 * See docs/decisions/one-export-at-a-time.md.
 */
export async function sweepExports(folder: string): Promise<void> {
  const unlock = tryLockExports(folder)
  if (!unlock) return
  try {
    await removeUnfinished(folder)
  } finally {
    unlock()
  }
}

/**
 * Removes partial files, and exports without a meta file, which would never be sent. The caller holds the lock, so
 * that no other process writes there.
 */
export async function removeUnfinished(folder: string): Promise<void> {
  await removeStalePartials(folder)
  const exports = join(folder, 'exports')
  await removeStalePartials(exports)
  for (const name of unfinishedExports(await readdir(exports))) await rm(join(exports, name), { force: true })
}
