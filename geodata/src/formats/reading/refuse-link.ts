import { lstat } from 'node:fs/promises'
import { basename } from 'node:path'
import { SourceError } from '../../source-error.ts'

/**
 * Throws if a file that belongs to a source is a symbolic link. A folder that somebody else made could contain
 * links to files of this machine. The source itself may be one, because its path was named by the publisher.
 */
export async function refuseLink(path: string, file: string): Promise<void> {
  if ((await lstat(path)).isSymbolicLink())
    throw new SourceError(
      `${basename(path)}, which belongs to ${file}, is a symbolic link, and links are not followed. Replace it by the file.`,
    )
}
