import type { Stats } from 'node:fs'

/**
 * A file's state as the file system tells it: size, times of the last change of content and of attributes, inode.
 * Every write, restore or replacement changes it, so bytes that were verified under a stamp need not be verified
 * again while the stamp stays the same.
 */
export type FileStamp = string

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return [size, mtimeMs, ctimeMs, ino].join(' ')
}
