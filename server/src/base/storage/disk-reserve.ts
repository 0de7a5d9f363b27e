import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = 'disk-reserve'
/** SQLite needs 32 KB to open a database, and a start writes a few rows and small files. */
const RESERVE_BYTES = 1 << 20
/** The reserve is only taken from a disk that has room for it. */
const MIN_FREE_BYTES = 16 * RESERVE_BYTES

/**
 * A file in the data folder that a start removes if the disk is full, so that a server can start, and serve reads,
 * before somebody has made room.
 */
export function releaseDiskReserve(dataDir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dataDir)
    if (bavail * bsize >= RESERVE_BYTES) return false
    rmSync(join(dataDir, FILE))
    return true
  } catch {
    // There is no data folder yet, or no reserve in it.
    return false
  }
}

/** Makes the reserve again once there is room. */
export async function keepDiskReserve(dataDir: string): Promise<void> {
  const path = join(dataDir, FILE)
  const isWhole = await stat(path).then(
    ({ size }) => size === RESERVE_BYTES,
    () => false,
  )
  const { bavail, bsize } = await statfs(dataDir)
  if (isWhole || bavail * bsize < MIN_FREE_BYTES) return
  // Random, because some file systems store no zeros.
  await writeFile(path, randomBytes(RESERVE_BYTES), { mode: 0o600 }).catch(async (error: unknown) => {
    await rm(path, { force: true })
    throw error
  })
}
