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

/**
 * Whether a file that is open still has the bytes it had when it got the stamp. The ctime may differ: it changes
 * when a name of the file is removed, as that of a removed version is while it is still sent.
 */
export function hasSameContent(
  stamp: FileStamp,
  { size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>,
): boolean {
  return stamp.startsWith(`${size} ${mtimeMs} `)
}
