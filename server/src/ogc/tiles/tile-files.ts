import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably, writeDurably } from '@wayleave/geodata/snapshot'
import { type BuiltTiles, removeOldPartitions } from '@wayleave/geodata/tiles'
import { DAY, plus } from '../../base/clock.ts'
import { tryLock } from '../../base/locks/file-lock.ts'
import { checkFile } from '../../data/downloads/exports/check-file.ts'

/**
 * The files of a snapshot's tiles, in a folder of their own: they are made after the snapshot, so its manifest
 * does not name them. As with exports, an archive without its meta file does not exist.
 */
export function tilesFolder(snapshotFolder: string): string {
  return join(snapshotFolder, 'tiles')
}

/** The archive's path in its snapshot's folder. */
export const TILES_FILE = 'tiles/tiles.pmtiles'
/**
 * What the names of folders begin with: of the parts that a build in parts has finished, and of what one of its workers
 * writes. Caches do not look into hidden folders.
 */
export const PARTS_FOLDER = '.parts-'
export const SCRATCH_FOLDER = '.scratch-'
/** Says why the last build failed. */
export const FAILURE_FILE = 'tiles/failure.json'

export function archivePath(snapshotFolder: string): string {
  return join(snapshotFolder, TILES_FILE)
}

const metaPath = (folder: string) => `${archivePath(folder)}.meta.json`
const failurePath = (folder: string) => join(folder, FAILURE_FILE)
const progressPath = (folder: string) => join(tilesFolder(folder), 'progress.json')

export function lockPath(snapshotFolder: string): string {
  return join(tilesFolder(snapshotFolder), 'lock')
}

/** What the meta file of an archive says. */
export interface KeptTiles extends BuiltTiles {
  /** Whether the archive replaced another one of the same version, so that tiles of both have been sent. */
  isRebuilt?: boolean
}

/** Names an archive that replaced another one in the URLs of its tiles; null for the first one of a version. */
export function buildOf({ isRebuilt, sha256 }: KeptTiles): string | null {
  return isRebuilt ? sha256.slice(0, 16) : null
}

/** The finished archive according to its meta file and its size; undefined if there is none. */
export async function readTilesMeta(folder: string): Promise<KeptTiles | undefined> {
  const meta = await readJson<KeptTiles>(metaPath(folder))
  const isWhole =
    meta !== null &&
    Number.isSafeInteger(meta.bytes) &&
    Number.isSafeInteger(meta.maxZoom) &&
    /^[0-9a-f]{64}$/.test(String(meta.sha256))
  if (!isWhole) return undefined
  const size = await stat(archivePath(folder)).then(
    (file) => file.size,
    () => -1,
  )
  return size === meta.bytes ? meta : undefined
}

/** Whether the archive still has the bytes that were built. */
export function isTilesIntact(folder: string, { sha256 }: BuiltTiles): Promise<boolean> {
  return checkFile(archivePath(folder), sha256)
}

export async function writeTilesMeta(folder: string, built: KeptTiles): Promise<void> {
  await writeDurably(metaPath(folder), JSON.stringify(built))
}

/**
 * Removes the archive (its meta file first) and what a killed build left, except finished partitions, which the next
 * build uses. Needs the lock.
 */
export async function removeTiles(folder: string): Promise<void> {
  await rm(metaPath(folder), { force: true })
  await removeFiles(folder, () => true)
}

/** Removes what earlier builds left, except a finished archive: it is used until another one replaces it. */
export async function removeLeftovers(folder: string): Promise<void> {
  if (!(await readTilesMeta(folder))) return removeTiles(folder)
  const kept = [archivePath(folder), metaPath(folder)]
  await removeFiles(folder, (path) => !kept.includes(path))
}

/** The folder of partitions is the only one. */
async function removeFiles(folder: string, isUseless: (path: string) => boolean): Promise<void> {
  for (const entry of await readdir(tilesFolder(folder), { withFileTypes: true }).catch(() => [])) {
    const path = join(tilesFolder(folder), entry.name)
    if (entry.isFile() && !entry.name.startsWith('lock') && isUseless(path)) await rm(path, { force: true })
  }
}

/** Removes the parts of a build, and what one of its workers has left, unless something was added since then. */
async function removeOldParts(folder: string, since: Date): Promise<void> {
  for (const name of await readdir(tilesFolder(folder)).catch(() => [])) {
    if (!name.startsWith(PARTS_FOLDER) && !name.startsWith(SCRATCH_FOLDER)) continue
    const path = join(tilesFolder(folder), name)
    if ((await stat(path)).mtime < since) await rm(path, { recursive: true, force: true })
  }
}

/** How long the partitions of a build are kept that is not continued. */
const KEPT_PARTITIONS = DAY

/**
 * Removes what a killed build left: partial files, an archive without a meta file, which does not count, and partitions
 * if the build is not continued. Does nothing while a build holds the lock.
 */
export async function sweepTiles(folder: string, now = new Date()): Promise<void> {
  if (!existsSync(tilesFolder(folder))) return
  const unlock = tryLock(lockPath(folder))
  if (!unlock) return
  try {
    await removeOldPartitions(archivePath(folder), plus(now, -KEPT_PARTITIONS))
    await removeOldParts(folder, plus(now, -KEPT_PARTITIONS))
    if (await readTilesMeta(folder)) {
      await removeFiles(folder, (path) => path.includes('.partial-'))
      await removeProgress(folder)
    } else if ((await readFailure(folder)) === null) await removeTiles(folder)
  } finally {
    unlock()
  }
}

export interface TilesFailure {
  reason: string
  /** When the build failed. */
  at: string
}

/** Why and when the last build failed; null if it did not. */
export async function readFailure(folder: string): Promise<TilesFailure | null> {
  const failure = await readJson<Partial<TilesFailure>>(failurePath(folder))
  // Failures of earlier versions have no time, and count as old.
  return failure && { reason: failure.reason ?? 'The build failed.', at: failure.at ?? '' }
}

export async function writeFailure(folder: string, failure: TilesFailure): Promise<void> {
  await makeFolderDurably(tilesFolder(folder))
  await writeDurably(failurePath(folder), JSON.stringify(failure))
}

/** How far a build of another process is, from 0 to 1. */
export async function readProgress(folder: string): Promise<number> {
  return (await readJson<{ progress: number }>(progressPath(folder)))?.progress ?? 0
}

export async function writeProgress(folder: string, progress: number): Promise<void> {
  await writeDurably(progressPath(folder), JSON.stringify({ progress }))
}

export async function removeProgress(folder: string): Promise<void> {
  await rm(progressPath(folder), { force: true })
}

async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch {
    // Missing, empty or cut off.
    return null
  }
}
