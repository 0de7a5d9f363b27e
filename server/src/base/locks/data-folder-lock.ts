import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { tryLock } from './file-lock.ts'

class DataFolderInUseError extends Error {
  override name = 'DataFolderInUseError'
}

/** Makes sure that only one server uses a data folder. */
export function lockDataFolder(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const unlock = tryLock(join(dataDir, 'server.lock'))
  if (unlock) return unlock
  throw new DataFolderInUseError(
    `Another server uses the data folder ${dataDir}. Stop it, or give this one a folder of its own with --data-dir.`,
  )
}
