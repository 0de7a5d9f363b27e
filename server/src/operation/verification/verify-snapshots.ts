import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, readManifest, verifySnapshot } from '@wayleave/geodata/snapshot'
import type { Db } from '../../base/database/open.ts'
import { isSnapshotName } from '../../data/blobs/snapshot-name.ts'
import { isSnapshotNamed, readSnapshotNames, readTables } from '../../data/catalog/store.ts'
import { readStoredVersions } from '../../data/catalog/version-store.ts'
import type { Finding } from './finding.ts'

interface NamedVersion {
  table: string
  version: number
  snapshot: string
  manifest: Manifest
}

export interface SnapshotReport {
  snapshots: number
  bytes: number
  findings: Finding[]
}

/** Reads every byte of every version's snapshot, and compares the folder with the catalog. */
export async function verifySnapshots(
  db: Db,
  folder: string,
  onSnapshot: (done: number, total: number) => void = () => {},
): Promise<SnapshotReport> {
  const stored = await storedNames(folder)
  const versions: NamedVersion[] = []
  for (const table of await readTables(db)) {
    for (const version of await readStoredVersions(db, table)) versions.push(version)
  }
  const findings: Finding[] = []
  let bytes = 0
  for (const [index, version] of versions.entries()) {
    onSnapshot(index, versions.length)
    const damage = await damageOf(join(folder, version.snapshot), version.manifest)
    bytes += Object.values(version.manifest.files).reduce((sum, file) => sum + file.bytes, 0)
    // A version that was removed meanwhile cannot have missing files.
    if (damage.length === 0 || !(await isSnapshotNamed(db, version.snapshot))) continue
    for (const message of damage) findings.push(damageFinding(version, message))
  }
  const named = new Set(await readSnapshotNames(db))
  for (const name of stored) {
    if (named.has(name) || versions.some(({ snapshot }) => snapshot === name)) continue
    findings.push({
      severity: 'warning',
      check: 'snapshot',
      subject: name,
      message: 'No version names this snapshot.',
      remedy: 'Nothing is lost. The server, or `wayleave gc`, moves it to the trash.',
    })
  }
  return { snapshots: versions.length, bytes, findings }
}

async function damageOf(folder: string, catalogued: Manifest): Promise<string[]> {
  try {
    const manifest = await readManifest(folder)
    const names = Object.keys(catalogued.files)
    const isSame = names.every((name) => manifest.files?.[name]?.sha256 === catalogued.files[name]!.sha256)
    if (!isSame) return ['manifest.json is not the one in the catalog.']
    return await verifySnapshot(folder)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return [code === 'ENOENT' ? 'The snapshot is missing.' : `manifest.json cannot be read: ${message}.`]
  }
}

/** Valid snapshot names only: skips staging and trash, which begin with a dot, and `lost+found`. */
async function storedNames(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.filter(isSnapshotName)
}

export function damageFinding({ table, version, snapshot }: NamedVersion, message: string): Finding {
  return {
    severity: 'problem',
    check: 'snapshot',
    subject: snapshot,
    message: `Version ${version} of ${table}: ${message}`,
    remedy: `Copy the folder snapshots/${snapshot} from a backup into the data folder, or publish ${table} again.`,
  }
}
