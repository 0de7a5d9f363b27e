import type { Logger } from 'pino'
import type { ControlDatabase } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'
import { StorageUnavailableError } from '../../base/storage/object-store.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { readSnapshotNames } from '../catalog/store.ts'
import {
  type InstallationPlace,
  readInstallationFile,
  rememberBucket,
  rememberedInstallationId,
  writeInstallationFile,
} from './installation-file.ts'
import { claimInstallationId, readInstallationId } from './installation-store.ts'

export interface InstallationDeps extends InstallationPlace {
  database: ControlDatabase
  blobs: Blobs
}

/** The facts that decide whether a data folder and a control database belong together. */
export interface InstallationState {
  /** Where the snapshots are, for messages: "data folder …" or "bucket …". */
  place: string
  databaseKind: ControlDatabase['kind']
  folderId: string | null
  databaseId: string | null
  /** The number of snapshots in the folder. */
  stored: number
  /** The number of snapshots that the database references, without those that were declared lost. */
  named: number
  /**
   * Referenced, and in the folder or its trash. Names are random: one match proves that both belong together.
   */
  matching: number
  /** Referenced, and neither in the folder nor in its trash. */
  missing: string[]
}

/** The data folder and the control database do not belong together: continuing could lose data. */
class InstallationMismatchError extends Error {
  override name = 'InstallationMismatchError'
}

async function inspectInstallation(parts: InstallationDeps): Promise<InstallationState> {
  const { database, blobs } = parts
  const file = await readInstallationFile(parts)
  const lost = new Set(file?.lostSnapshots)
  const named = (await readSnapshotNames(database.db)).filter((name) => !lost.has(name))
  const stored = await blobs.list()
  const held = new Set([...stored, ...(await blobs.listTrash()).map(({ snapshot }) => snapshot)])
  const missing = named.filter((name) => !held.has(name))
  return {
    place: placeText(parts),
    databaseKind: database.kind,
    folderId: file?.installationId ?? null,
    databaseId: await readInstallationId(database.db),
    stored: stored.length,
    named: named.length,
    matching: named.length - missing.length,
    missing,
  }
}

/** The reason why the folder and the database must not be used together, or null if they may. */
export function mismatchOf(state: InstallationState): string | null {
  const { place, folderId, databaseId, stored, named, matching } = state
  const database = databaseText(state)
  if (folderId !== null && databaseId !== null && folderId !== databaseId)
    return differentIds({ place, folderId, database, databaseId })
  if (named > 0 && matching === 0) {
    return `The ${place} holds none of the ${count(named)} that the ${database} names: is it the shared folder, and is its volume mounted? If the snapshots are lost, run "wayleave adopt-folder --force".`
  }
  const isProven = folderId !== null && folderId === databaseId
  if (!isProven && named === 0 && stored > 0) {
    return `The ${place} holds ${count(stored)}, and the ${database} names none: is it the right database? Set WAYLEAVE_DATABASE_URL, or restore the database. If the snapshots are no longer wanted, run "wayleave adopt-folder --force".`
  }
  return null
}

function differentIds(names: {
  place: string
  folderId: string
  database: string
  databaseId: string
}): string {
  const { place, folderId, database, databaseId } = names
  return `The ${place} belongs to the installation ${folderId}, and the ${database} to ${databaseId}. Set WAYLEAVE_DATA_DIR and WAYLEAVE_DATABASE_URL to a folder and a database of one installation. If these two do belong together, for example after a restore, run "wayleave adopt-folder".`
}

/**
 * Throws if the folder or bucket has the id of another installation than the database: for commands that copy from it
 * without opening it as a server does. One of them may have no id yet.
 */
export async function requireSameId(
  place: InstallationPlace,
  { kind, installationId: databaseId }: { kind: ControlDatabase['kind']; installationId: string | null },
): Promise<void> {
  const folderId = (await readInstallationFile(place))?.installationId ?? null
  if (folderId === null || databaseId === null || folderId === databaseId) return
  const database = databaseText({ databaseKind: kind })
  throw new InstallationMismatchError(
    differentIds({ place: placeText(place), folderId, database, databaseId }),
  )
}

function placeText({ dataDir, bucket }: InstallationPlace): string {
  if (!bucket) return `data folder ${dataDir}`
  return `${bucket.location.startsWith('s3:') ? 'bucket' : 'folder'} ${bucket.location}`
}

/** Throws if the folder and the database do not belong together. */
export async function checkInstallation(parts: InstallationDeps): Promise<InstallationState> {
  const state = await inspectInstallation(parts)
  const mismatch = mismatchOf(state)
  if (mismatch !== null) throw new InstallationMismatchError(mismatch)
  return state
}

/**
 * Throws if the folder and the database do not belong together. Afterwards both have the same id. A bucket that has the
 * database's id is not listed, because that takes a request for every thousand snapshots: the garbage collection
 * compares its snapshots with the database later.
 */
export async function requireOneInstallation(parts: InstallationDeps, log: Logger): Promise<void> {
  if (parts.bucket && (await hasSameIdOrIsUnreachable(parts, log))) return
  const state = await checkInstallation(parts)
  const { folderId, databaseId } = state
  logMissing(state, log)
  if (folderId !== null && databaseId !== null) return remember(parts, databaseId, log)
  const id = await claimInstallationId(parts.database.db, databaseId ?? folderId ?? newId('inst'))
  // Another node, with another folder, may have set the id first.
  const late = folderId === null ? null : mismatchOf({ ...state, databaseId: id })
  if (late !== null) throw new InstallationMismatchError(late)
  if (folderId === null) await writeInstallationFile(parts, { installationId: id })
  await remember(parts, id, log)
}

/**
 * A node that has used the bucket with this database before starts without it: what it has cached can be served, as
 * it was before the start.
 */
async function hasSameIdOrIsUnreachable(parts: InstallationDeps, log: Logger): Promise<boolean> {
  const databaseId = await readInstallationId(parts.database.db)
  try {
    const file = await readInstallationFile(parts)
    if (file === null || file.installationId !== databaseId) return false
    await remember(parts, databaseId, log)
    return true
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error
    if (databaseId === null || (await rememberedInstallationId(parts)) !== databaseId) {
      throw new StorageUnavailableError(
        `The ${placeText(parts)} cannot be reached, and this node has not used it with this database before: nothing shows that they belong together. ${error.message}`,
        { cause: error },
      )
    }
    log.warn(
      { err: error },
      `The ${placeText(parts)} cannot be reached. What this node has cached is served.`,
    )
    return true
  }
}

/** Without the record, this node does not start while the bucket is unreachable. */
async function remember(parts: InstallationDeps, installationId: string, log: Logger): Promise<void> {
  await rememberBucket(parts, installationId).catch((error: unknown) =>
    log.warn({ err: error }, 'The id of the bucket could not be recorded in the cache.'),
  )
}

export function logMissing({ place, missing, named }: InstallationState, log: Logger): void {
  if (missing.length === 0) return
  log.error(
    { snapshots: missing.slice(0, 20) },
    `The ${place} lacks ${missing.length} of the ${count(named)} that the database names.`,
  )
}

/**
 * Declares that the folder and the database belong together. Without `force` only if a snapshot proves it, or
 * if both are empty. With `force`, snapshots that the folder lacks are declared lost.
 */
export async function adoptFolder(parts: InstallationDeps, force: boolean): Promise<InstallationState> {
  const state = await inspectInstallation(parts)
  const { named, stored, matching, missing, place } = state
  const isSafe = matching > 0 || (named === 0 && stored === 0)
  if (!isSafe && !force) {
    throw new InstallationMismatchError(
      `Nothing proves that the ${place} and the ${databaseText(state)} belong together: the folder holds ${count(stored)}, and the database names ${named}, none of them in the folder. With --force the versions that it names count as lost, and the snapshots that no version names go to the trash.`,
    )
  }
  // The database's id takes precedence: several nodes share the database.
  const installationId = await claimInstallationId(
    parts.database.db,
    state.databaseId ?? state.folderId ?? newId('inst'),
  )
  const file = await readInstallationFile(parts)
  const lostSnapshots = [...new Set([...(file?.lostSnapshots ?? []), ...(force ? missing : [])])]
  await writeInstallationFile(parts, {
    installationId,
    ...(lostSnapshots.length > 0 ? { lostSnapshots } : {}),
  })
  return inspectInstallation(parts)
}

function databaseText({ databaseKind }: Pick<InstallationState, 'databaseKind'>): string {
  return `control database (${databaseKind === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
}

function count(snapshots: number): string {
  return `${snapshots} ${snapshots === 1 ? 'snapshot' : 'snapshots'}`
}
