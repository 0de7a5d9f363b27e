import { DatabaseSync } from 'node:sqlite'
import { makePrivate } from './private-files.ts'

/**
 * Takes a lock that the operating system releases when the process ends, even by `kill -9`, so there are no
 * stale locks. Uses SQLite's own file lock. Null if another process (or this one) holds it.
 *
 * See docs/decisions/file-lock.md.
 */
export function tryLock(path: string): (() => void) | null {
  makePrivate(path)
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    // Not EXCLUSIVE: of two that take it at the same moment, each could be refused because of the other.
    lock.exec('pragma journal_mode = delete; begin immediate')
    return () => lock.close()
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode === 5) return null
    throw Object.assign(error as Error, { message: `${path}: ${(error as Error).message}` })
  }
}
