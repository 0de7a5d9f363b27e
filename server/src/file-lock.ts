import { DatabaseSync } from 'node:sqlite'

/**
 * Holds a lock that the system releases with the process, however that ends: a start after `kill -9` finds no
 * stale one. SQLite's own file lock serves. Null where another process (or this one) holds it.
 */
export function tryLock(path: string): (() => void) | null {
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec('pragma journal_mode = delete; begin exclusive')
    return () => lock.close()
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode === 5) return null
    throw error
  }
}
