import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export class DataFolderInUseError extends Error {
  override name = 'DataFolderInUseError'
}

/**
 * One server a data folder. SQLite's own file lock serves: the system releases it with the process, however
 * that ends, so a start after `kill -9` finds no stale lock.
 */
export function lockDataFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const lock = new DatabaseSync(join(dataDir, 'server.lock'), { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = delete; begin exclusive')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== 5) throw error
    throw new DataFolderInUseError(
      `Another server uses the data folder ${dataDir}. Stop it, or give this one a folder of its own with --data-dir.`,
    )
  }
  return () => lock.close()
}
