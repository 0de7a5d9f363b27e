import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'wayleave-tests-'
const GIGABYTE = 2 ** 30
/** Far more than the tests that run at the same time write. */
const MIN_FREE_BYTES = 8 * GIGABYTE
/** Tests, browsers and servers need memory too. */
const MIN_MEMORY_BYTES = 12 * GIGABYTE

/**
 * A folder in memory for the temporary files of the tests, and what removes it: they sync thousands of files, for which
 * a disk takes a quarter of the time of a run. Null without enough memory; then they use the system's folder.
 */
export function scratchFolder(
  memory = MEMORY,
  freeMemory = freemem(),
): { folder: string; remove(): void } | null {
  if (!existsSync(memory)) return null
  removeAbandoned(memory)
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < MIN_FREE_BYTES || freeMemory < MIN_MEMORY_BYTES) return null
  const folder = mkdtempSync(join(memory, `${PREFIX}${process.pid}-`))
  // PostgreSQL and the sandbox run as other users, which have folders of their own in it.
  chmodSync(folder, 0o711)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  return { folder, remove }
}

/** Those of runs that were killed would occupy memory until the machine is restarted. */
function removeAbandoned(memory: string): void {
  for (const name of readdirSync(memory)) {
    const process = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (process !== undefined && !existsSync(join('/proc', process)))
      rmSync(join(memory, name), { recursive: true, force: true })
  }
}
