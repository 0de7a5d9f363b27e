import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExportFormatEntry } from '@wayleave/geodata/exports/index.ts'
import type { BuiltFile } from '@wayleave/geodata/exports/write-atomically.ts'
import { checkFile } from './check-file.ts'

/** Where a snapshot's folder keeps an export. */
export function exportPath(folder: string, table: string, format: ExportFormatEntry): string {
  return join(folder, 'exports', `${table}.${format.extension}`)
}

const metaPath = (path: string) => `${path}.meta.json`

/** Size and checksum stand beside the file; one that does not fit them is removed, to be built anew. */
export async function builtBefore(path: string): Promise<BuiltFile | undefined> {
  const text = await readFile(metaPath(path), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const meta = JSON.parse(text) as BuiltFile
  const present = await stat(path).catch(() => undefined)
  if (present?.size === meta.bytes && (await checkFile(path, meta.sha256))) return meta
  await removeBuilt(path)
  return undefined
}

export async function writeMeta(path: string, built: BuiltFile): Promise<void> {
  const partial = `${metaPath(path)}.partial-${process.pid}`
  await writeFile(partial, JSON.stringify(built))
  await rename(partial, metaPath(path))
}

export async function removeBuilt(path: string): Promise<void> {
  await rm(metaPath(path), { force: true })
  await rm(path, { force: true })
}
