import { copyFile, lstat, open, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readFully } from '../../bytes/read-fully.ts'
import { SourceError } from '../../source-error.ts'
import { includeLog } from '../sqlite/untrusted-database.ts'

const WAL_HEADER_BYTES = 32
const ATTEMPTS = 5

/**
 * The path of a copy that contains the changes in the write-ahead log beside an SQLite database; null if there
 * are none. Another program that has the database open, such as QGIS, keeps its last changes there. Nothing is
 * written beside the database itself.
 */
export async function checkpointedCopy(
  path: string,
  file: string,
  folder: () => Promise<string>,
): Promise<string | null> {
  // SQLite names the log after the file that a symbolic link leads to.
  const database = await realpath(path)
  await refuseHotJournal(`${database}-journal`, file)
  const log = `${database}-wal`
  if ((await header(log)) === '') return null
  const copy = join(await folder(), basename(database))
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await header(log)
    // The program has closed the database, and so all changes are in it.
    if (before === '') return null
    await copyFile(database, copy)
    await copyFile(log, `${copy}-wal`).catch(ignoreMissing)
    // Until the log is begun anew, it contains all that was written to the database during the copying.
    if ((await header(log)) === before) {
      checkpoint(copy, file)
      return copy
    }
  }
  throw new SourceError(
    `${file} is being changed by another program, so it could not be copied. Close it there and publish it again.`,
  )
}

/** Writes the changes of the log into the database. */
function checkpoint(path: string, file: string): void {
  try {
    includeLog(path)
  } catch (error) {
    throw new SourceError(
      `${file} cannot be read together with the changes in the -wal file beside it: ${(error as Error).message}. Close it in the program that has it open, and publish it again.`,
    )
  }
}

/** The first bytes of a log, which differ each time it is begun anew; empty if there is no log. */
async function header(log: string): Promise<string> {
  const bytes = await firstBytes(log, WAL_HEADER_BYTES)
  return bytes.length < WAL_HEADER_BYTES ? '' : bytes.toString('hex')
}

/** A rollback journal that begins with a zero byte, or is empty, is a finished one. */
async function refuseHotJournal(journal: string, file: string): Promise<void> {
  const [first = 0] = await firstBytes(journal, 1)
  if (first !== 0)
    throw new SourceError(
      `${file} has unfinished changes (there is a -journal file beside it): another program is changing it, or stopped while it did. Close it there, or open it once more and close it, and publish it again.`,
    )
}

async function firstBytes(path: string, count: number): Promise<Buffer> {
  // A link is not followed: SQLite makes none, and it could lead to a file of the machine.
  if (!(await lstat(path).catch(ignoreMissing))?.isFile()) return Buffer.alloc(0)
  const handle = await open(path)
  try {
    const bytes = Buffer.alloc(count)
    return bytes.subarray(0, await readFully(handle, bytes, 0))
  } finally {
    await handle.close()
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
