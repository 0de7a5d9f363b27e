import type { Manifest } from '@wayleave/geodata/snapshot'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Db } from '../../base/database/open.ts'
import { snapshotKey } from '../../data/blobs/object-keys.ts'
import {
  DamagedSourceError,
  derivedOf,
  ObjectCopier,
  objectsOf,
  type StoredPlace,
} from '../../data/blobs/stored-files.ts'
import { announceFiles } from '../../data/catalog/announce-files.ts'
import { readTables } from '../../data/catalog/store.ts'
import { readStoredVersions } from '../../data/catalog/version-store.ts'
import { requireSameId } from '../../data/installation/installation.ts'
import { readInstallationId } from '../../data/installation/installation-store.ts'

/** A pass finds what was published during the one before. */
const MAX_PASSES = 10
const UPLOADS = 'uploads/'

export interface MoveStorageOptions {
  changes: Pick<Changes, 'commit'>
  database: Pick<ControlDatabase, 'db' | 'kind'>
  from: StoredPlace
  to: StoredPlace
  /** A folder with room for the largest file. */
  scratch: string
  onSnapshot?: (done: number, total: number) => void
}

export interface MoveStorageReport {
  /** Snapshots that were copied now, and those that had been copied before. */
  copied: number
  copiedBytes: number
  present: number
  /** Versions whose files are damaged or missing at the source; they were not copied. */
  damaged: { table: string; version: number; snapshot: string; message: string }[]
}

interface NamedVersion {
  table: string
  version: number
  snapshot: string
  manifest: Manifest
}

/**
 * Copies everything that the catalog names to another place, while the service runs. A snapshot is complete once
 * its manifest is there, so a move that was interrupted continues where it ended.
 */
export async function moveStorage(options: MoveStorageOptions): Promise<MoveStorageReport> {
  const { database, from, to, onSnapshot = () => {} } = options
  const { db, kind } = database
  const installationId = await readInstallationId(db)
  for (const { store: bucket } of [from, to])
    await requireSameId({ dataDir: '', bucket }, { kind, installationId })
  const report: MoveStorageReport = { copied: 0, copiedBytes: 0, present: 0, damaged: [] }
  const done = new Set<string>()
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const versions = (await namedVersions(db)).filter(({ snapshot }) => !done.has(snapshot))
    if (versions.length === 0) break
    for (const [index, version] of versions.entries()) {
      onSnapshot(index, versions.length)
      if (await copyVersion(options, version, report)) await announceFiles(options.changes, version.table)
      done.add(version.snapshot)
    }
  }
  await copyUploads(from, to)
  if (installationId !== null) {
    const file = `${JSON.stringify({ installationId }, null, 2)}\n`
    await to.store.write('installation.json', Buffer.from(file))
  }
  return report
}

async function namedVersions(db: Db): Promise<NamedVersion[]> {
  const versions: NamedVersion[] = []
  for (const table of await readTables(db)) versions.push(...(await readStoredVersions(db, table)))
  return versions
}

/** Returns whether the version was copied now. */
async function copyVersion(
  { from, to, scratch }: MoveStorageOptions,
  { table, version, snapshot, manifest }: NamedVersion,
  report: MoveStorageReport,
): Promise<boolean> {
  const manifestKey = snapshotKey(snapshot, SNAPSHOT_FILES.manifest)
  if ((await to.store.head(manifestKey)) !== null) {
    report.present++
    return false
  }
  const copier = new ObjectCopier(from, to, scratch)
  const existingObjects = await objectsOf(to, snapshot)
  const objects = await objectsOf(from, snapshot)
  try {
    for (const [name, { bytes, sha256 }] of Object.entries(manifest.files)) {
      const key = snapshotKey(snapshot, name)
      // An object appears whole: an earlier attempt has copied it.
      if (existingObjects.get(key)?.bytes === bytes) continue
      await copier.copy({ key, targetKey: key, bytes, sha256 })
      report.copiedBytes += bytes
    }
    for (const derived of await derivedOf(from, snapshot, objects)) {
      if (derived.meta === null) continue
      // A damaged export is left out: it is built again when it is needed.
      await copier.copyDerived(snapshot, derived).catch((error: unknown) => {
        if (!(error instanceof DamagedSourceError)) throw error
      })
    }
    await to.store.write(manifestKey, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))
    report.copied++
    return true
  } catch (error) {
    if (!(error instanceof DamagedSourceError)) throw error
    report.damaged.push({ table, version, snapshot, message: error.message })
    return false
  }
}

/** The files of jobs that were not published yet. */
async function copyUploads(from: StoredPlace, to: StoredPlace): Promise<void> {
  for await (const { key } of from.store.list(UPLOADS)) {
    const path = from.store.localPath?.(key)
    const object = await from.store.head(key)
    if (!object || (await to.store.head(key))?.bytes === object.bytes) continue
    await to.store.write(key, path ? { path, bytes: object.bytes } : await from.store.read(key))
  }
}
