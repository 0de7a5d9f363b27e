import { lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

/** A file or folder, and the path under which the sandboxed process sees it. */
export interface Bind {
  source: string
  target: string
}

/** What belongs to an SQLite database. */
const JOURNALS = ['-wal', '-shm', '-journal']

/**
 * The input, and the files that belong to it: those of the same name with other extensions, as shapefiles and
 * MapInfo tables have, and the journals of a database. Symbolic links beside the input are left out: an archive that
 * somebody unpacked may contain links to anywhere.
 */
export async function inputBinds({
  path,
  isAlone,
  others = [],
}: {
  path: string
  isAlone: boolean
  others?: string[]
}): Promise<Bind[]> {
  const source = await realpath(path)
  const binds = [{ source, target: path }]
  for (const other of others) binds.push({ source: await realpath(other), target: other })
  if (isAlone) return binds
  const folder = dirname(path)
  const stem = `${basename(path, extname(path))}.`.toLowerCase()
  for (const name of await readdir(folder)) {
    const sibling = join(folder, name)
    if (sibling === path || !name.toLowerCase().startsWith(stem)) continue
    if (await isPlainFile(sibling)) binds.push({ source: sibling, target: sibling })
  }
  // SQLite names the journals after the file that a symbolic link leads to.
  for (const journal of JOURNALS)
    if (await isPlainFile(source + journal)) binds.push({ source: source + journal, target: path + journal })
  return binds
}

async function isPlainFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isFile() === true
}
