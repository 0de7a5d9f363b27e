import type { Stats } from 'node:fs'

/**
 * A file's state as reported by the file system: size, mtime, ctime and inode. Every write, restore or
 * replacement changes it, so bytes that were verified under a stamp need not be verified again while the
 * stamp is unchanged.
 */
export type FileStamp = string

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return [size, mtimeMs, ctimeMs, ino].join(' ')
}
