import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLock } from '../../../base/locks/file-lock.ts'

const LOOK_AGAIN_MS = 50

/**
 * The lock that a process holds while it writes to a snapshot's exports. Nodes share the folder, so process
 * ids would be ambiguous there.
 *
 * See docs/decisions/one-export-at-a-time.md.
 */
export async function lockExports(folder: string, signal: AbortSignal): Promise<() => void> {
  for (;;) {
    const unlock = tryLock(join(folder, 'exports', 'lock'))
    if (unlock) return unlock
    await sleep(LOOK_AGAIN_MS, undefined, { signal })
  }
}

/** Returns null if a build holds the lock, or if nothing was ever built. */
export function tryLockExports(folder: string): (() => void) | null {
  const exports = join(folder, 'exports')
  return existsSync(exports) ? tryLock(join(exports, 'lock')) : null
}
