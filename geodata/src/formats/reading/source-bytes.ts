import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

/** Files of formats whose rows are in several files with the same name and different extensions. */
const IN_SEVERAL_FILES = /\.(shp|tab|mif)$/i

/** The bytes of all files that a source consists of: it may be a folder or several files, and a shapefile has siblings. */
export async function sourceBytes(path: string, parts: { path: string }[] = []): Promise<number> {
  if (parts.length > 0) {
    let bytes = 0
    for (const part of parts) bytes += (await stat(part.path)).size
    return bytes
  }
  const stats = await stat(path)
  if (stats.isDirectory()) return sizeOf(path, () => true)
  if (!IN_SEVERAL_FILES.test(path)) return stats.size
  return sizeOf(dirname(path), (name) => stem(name) === stem(path))
}

async function sizeOf(folder: string, isPart: (name: string) => boolean): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isFile() && isPart(entry.name)) bytes += (await stat(join(folder, entry.name))).size
    else if (entry.isDirectory() && isPart('')) bytes += await sizeOf(join(folder, entry.name), isPart)
  return bytes
}

function stem(path: string): string {
  return basename(path, extname(path)).toLowerCase()
}
