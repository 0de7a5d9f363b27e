import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuiltFile, EXPORT_GENERATION } from '@wayleave/geodata/exports'
import { type ReadableFile, writeDurably } from '@wayleave/geodata/snapshot'
import type { DerivedMeta, DerivedObject, DerivedObjects } from '../../blobs/derived-objects.ts'
import { type FileStamp, stampOf } from '../../catalog/file-stamp.ts'
import { openStamped } from '../send-export.ts'
import { checkFile } from './check-file.ts'
import type { DownloadFormat, StoredFile } from './export-file.ts'

/**
 * The path of an export in a snapshot's folder. A CSV file with escaped formulas has another name, so that it
 * is not taken for one with the texts as published after the setting was changed.
 */
export function exportPath(
  folder: string,
  table: string,
  format: Pick<DownloadFormat, 'format' | 'extension'>,
  escapeFormulas = false,
): string {
  const variant = escapeFormulas && format.format === 'csv' ? '.escaped' : ''
  return join(folder, 'exports', `${table}${variant}.${format.extension}`)
}

/** The path of the changes from another snapshot, whose name is unique, to the one of the folder. */
export function changesPath(
  folder: string,
  table: string,
  { extension }: Pick<DownloadFormat, 'extension'>,
  since: string,
): string {
  return join(folder, 'exports', `${table}.since-${since}.${extension}`)
}

const META = '.meta.json'
const metaPath = (path: string) => `${path}${META}`

interface Generation {
  generation: number
}

/** What the meta file of an export that is built now says about how it was built. */
export const GENERATION: Generation = { generation: EXPORT_GENERATION }

/** A finished export and the file stamp under which its bytes were verified. */
export interface VerifiedExport extends BuiltFile {
  stamp: FileStamp
}

/**
 * The finished file at `path`, whose size and checksum are in a meta file next to it. Returns undefined if
 * the file is missing, if its meta file is incomplete, if it was built by a program that wrote an older
 * generation of exports, or if the file does not match the meta file; then it has to be built.
 */
export async function findBuilt(path: string, generation: number): Promise<VerifiedExport | undefined> {
  const meta = await readMeta(path, generation)
  const file = meta && (await stat(path).catch(() => undefined))
  if (!meta || file?.size !== meta.bytes || !(await checkFile(path, meta.sha256))) return undefined
  return { ...meta, stamp: stampOf(file) }
}

/** A finished file on local disk. */
export function localFile(path: string, { bytes, sha256, stamp }: VerifiedExport): StoredFile {
  const open = () => openStamped(path, stamp)
  return { bytes, sha256, open, localPath: path, signedAddress: async () => null }
}

/** The same for an export in a bucket. */
export async function findStoredExport(
  derived: DerivedObjects,
  snapshot: string,
  name: string,
  generation: number,
): Promise<StoredFile | undefined> {
  const stored = await derived.find<DerivedMeta & Partial<Generation>>(snapshot, name)
  if (stored && (stored.meta.generation ?? 1) < generation) {
    // It will be built again, perhaps by another node.
    derived.forget(snapshot, name)
    return undefined
  }
  if (!stored) return undefined
  return storedFile(stored)
}

/** A finished file in a bucket. */
export function storedFile({ meta, open, signedAddress }: DerivedObject<DerivedMeta>): StoredFile {
  const { bytes, sha256 } = meta
  return { bytes, sha256, open: () => withFirstByte(open(true)), localPath: null, signedAddress }
}

/** A file that cannot be fetched fails before a response has begun, so that it becomes a problem response. */
export async function withFirstByte(file: ReadableFile): Promise<ReadableFile> {
  await file.read(Buffer.alloc(1), 0, 1, 0)
  return file
}

async function readMeta(path: string, minGeneration: number): Promise<BuiltFile | undefined> {
  try {
    const meta = JSON.parse(await readFile(metaPath(path), 'utf8')) as Partial<BuiltFile & Generation>
    // Exports from before generations were counted are of the first one.
    const { bytes, sha256, generation = 1 } = meta
    if (generation < minGeneration) return undefined
    const isWhole = Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(String(sha256))
    return isWhole ? { bytes: bytes!, sha256: sha256! } : undefined
  } catch {
    // The meta file is missing, empty or truncated.
    return undefined
  }
}

export async function writeMeta(path: string, { bytes, sha256 }: BuiltFile): Promise<void> {
  const meta: BuiltFile & Generation = { bytes, sha256, ...GENERATION }
  await writeDurably(metaPath(path), JSON.stringify(meta))
}

/** Removes the meta file first: without it the export counts as not built. */
export async function removeBuilt(path: string): Promise<void> {
  await rm(metaPath(path), { force: true })
  await rm(path, { force: true })
}

/**
 * The files that a killed build left, among the names in a folder: exports without a meta file, and meta
 * files without an export.
 */
export function unfinishedExports(names: readonly string[]): string[] {
  const all = new Set(names)
  return names.filter((name) => {
    if (name === 'lock' || name.startsWith('lock-') || name.includes('.partial-')) return false
    return name.endsWith(META) ? !all.has(name.slice(0, -META.length)) : !all.has(name + META)
  })
}
