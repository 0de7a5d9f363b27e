import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExportFormatEntry } from '@wayleave/geodata/exports/index.ts'
import type { BuiltFile } from '@wayleave/geodata/exports/write-atomically.ts'
import { writeDurably } from '@wayleave/geodata/write-durably.ts'
import { type FileStamp, stampOf } from '../catalog/file-stamp.ts'
import { checkFile } from './check-file.ts'

/** Where a snapshot's folder keeps an export. */
export function exportPath(folder: string, table: string, format: ExportFormatEntry): string {
  return join(folder, 'exports', `${table}.${format.extension}`)
}

const META = '.meta.json'
const metaPath = (path: string) => `${path}${META}`

/** A finished export and the state in which its bytes were found to be right. */
export interface VerifiedExport extends BuiltFile {
  stamp: FileStamp
}

/**
 * The finished file at `path`. Its size and checksum stand beside it; undefined if there is none, if its meta file
 * is incomplete, or if the file is not what the meta file says: then it has to be built.
 */
export async function findBuilt(path: string): Promise<VerifiedExport | undefined> {
  const meta = await readMeta(path)
  const file = meta && (await stat(path).catch(() => undefined))
  if (!meta || file?.size !== meta.bytes || !(await checkFile(path, meta.sha256))) return undefined
  return { ...meta, stamp: stampOf(file) }
}

async function readMeta(path: string): Promise<BuiltFile | undefined> {
  try {
    const { bytes, sha256 } = JSON.parse(await readFile(metaPath(path), 'utf8')) as Partial<BuiltFile>
    const isWhole = Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(String(sha256))
    return isWhole ? { bytes: bytes!, sha256: sha256! } : undefined
  } catch {
    // Missing, empty or cut off.
    return undefined
  }
}

export async function writeMeta(path: string, { bytes, sha256 }: BuiltFile): Promise<void> {
  await writeDurably(metaPath(path), JSON.stringify({ bytes, sha256 }))
}

/** The meta file goes first: without it the export does not count. */
export async function removeBuilt(path: string): Promise<void> {
  await rm(metaPath(path), { force: true })
  await rm(path, { force: true })
}

/** The files among a folder's names that a killed build left: exports without a meta file, and the reverse. */
export function unfinishedExports(names: readonly string[]): string[] {
  const all = new Set(names)
  return names.filter((name) => {
    if (name === 'lock' || name.startsWith('lock-') || name.includes('.partial-')) return false
    return name.endsWith(META) ? !all.has(name.slice(0, -META.length)) : !all.has(name + META)
  })
}
