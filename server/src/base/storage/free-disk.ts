import { statfs } from 'node:fs/promises'
import { Problem } from '../problem.ts'

/**
 * Throws if the disk of a folder has not twice as much room as must be free (WAYLEAVE_MIN_FREE_BYTES). What others send
 * stops before that: with less, the node is not ready any more.
 */
export async function requireFreeDisk(folder: string, minFreeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < 2 * minFreeBytes) throw diskFull()
}

export function diskFull(): Problem {
  return new Problem('disk-full', 'There is no room for the file.', { headers: { 'retry-after': '60' } })
}
