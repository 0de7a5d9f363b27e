import { type Manifest, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Db } from '../../base/database/open.ts'
import type { ObjectInfo } from '../../base/storage/object-store.ts'
import { SNAPSHOTS, snapshotKey, TRASH } from '../../data/blobs/object-keys.ts'
import { isSnapshotName } from '../../data/blobs/snapshot-name.ts'
import {
  DamagedSourceError,
  derivedOf,
  ObjectCopier,
  objectsOf,
  type StoredPlace,
  sha256Of,
} from '../../data/blobs/stored-files.ts'
import { parseTrashEntry } from '../../data/blobs/trash-entry.ts'
import { isSnapshotNamed, readTables } from '../../data/catalog/store.ts'
import { readStoredVersions } from '../../data/catalog/version-store.ts'

export interface CheckStorageOptions {
  db: Db
  place: StoredPlace
  /** Compare every byte with its checksum, instead of sizes only. */
  isDeep: boolean
  /** Fix what can be fixed. */
  isRepaired: boolean
  /** Places that may have intact copies of damaged files. */
  copies: StoredPlace[]
  /** A folder with room for the largest file. */
  scratch: string
  /** Tells the nodes that files of a table were repaired. */
  announce?: (table: string) => Promise<void>
  onSnapshot?: (done: number, total: number) => void
}

export interface StorageFinding {
  kind: 'missing' | 'damaged' | 'orphaned'
  key: string
  message: string
  isRepaired: boolean
}

export interface StorageReport {
  snapshots: number
  bytes: number
  findings: StorageFinding[]
}

interface NamedVersion {
  table: string
  version: number
  snapshot: string
  manifest: Manifest
}

/**
 * Compares the catalog with what is stored. What is made from other files is repaired by removing it (exports,
 * tiles) or by writing it again (a manifest, which the catalog has too); other files are copied from another
 * place that has them intact.
 */
export async function checkStorage(options: CheckStorageOptions): Promise<StorageReport> {
  const { db, place, onSnapshot = () => {}, announce = async () => {} } = options
  const versions: NamedVersion[] = []
  // Listed before the catalog is read: what is published meanwhile is then not taken for an orphan.
  const stored = await place.store.listFolders(SNAPSHOTS)
  for (const table of await readTables(db)) versions.push(...(await readStoredVersions(db, table)))
  const report: StorageReport = { snapshots: versions.length, bytes: 0, findings: [] }
  for (const [index, version] of versions.entries()) {
    onSnapshot(index, versions.length)
    const findings = await new VersionCheck(options, version).run()
    report.bytes += Object.values(version.manifest.files).reduce((sum, { bytes }) => sum + bytes, 0)
    if (findings.some(({ isRepaired }) => isRepaired)) await announce(version.table)
    // A version that was removed meanwhile cannot have missing files.
    if (findings.length > 0 && (await isSnapshotNamed(db, version.snapshot)))
      report.findings.push(...findings)
  }
  const named = new Set(versions.map(({ snapshot }) => snapshot))
  for await (const { key } of place.store.list(TRASH)) {
    const entry = parseTrashEntry(key.slice(TRASH.length))
    if (entry) named.add(entry.snapshot)
  }
  for (const snapshot of stored) {
    if (named.has(snapshot) || !isSnapshotName(snapshot)) continue
    report.findings.push({
      kind: 'orphaned',
      key: SNAPSHOTS + snapshot,
      message: 'No version names this snapshot. The service, or `wayleave gc`, moves it to the trash.',
      isRepaired: false,
    })
  }
  return report
}

class VersionCheck {
  readonly #options: CheckStorageOptions
  readonly #version: NamedVersion
  readonly #findings: StorageFinding[] = []

  constructor(options: CheckStorageOptions, version: NamedVersion) {
    this.#options = options
    this.#version = version
  }

  async run(): Promise<StorageFinding[]> {
    const { snapshot, manifest } = this.#version
    const objects = await objectsOf(this.#options.place, snapshot)
    for (const [name, expected] of Object.entries(manifest.files)) {
      const key = snapshotKey(snapshot, name)
      const kind = await this.#stateOf(key, objects.get(key), expected)
      if (kind !== null) this.#add(kind, key, await this.#copyFile(key, expected))
    }
    await this.#checkManifest()
    await this.#checkDerived(objects)
    return this.#findings
  }

  async #stateOf(
    key: string,
    object: ObjectInfo | undefined,
    { bytes, sha256 }: { bytes: number; sha256: string },
  ): Promise<'missing' | 'damaged' | null> {
    const { place, isDeep } = this.#options
    if (object === undefined) return 'missing'
    if (object.bytes !== bytes) return 'damaged'
    return isDeep && (await sha256Of(place, key, bytes)) !== sha256 ? 'damaged' : null
  }

  async #copyFile(key: string, expected: { bytes: number; sha256: string }): Promise<boolean> {
    const { place, isRepaired, copies, scratch } = this.#options
    if (!isRepaired) return false
    for (const copy of copies) {
      try {
        await new ObjectCopier(copy, place, scratch).copy({ key, targetKey: key, ...expected })
        return true
      } catch (error) {
        if (!(error instanceof DamagedSourceError)) throw error
      }
    }
    return false
  }

  async #checkManifest(): Promise<void> {
    const { place, isRepaired } = this.#options
    const { snapshot, manifest } = this.#version
    const key = snapshotKey(snapshot, SNAPSHOT_FILES.manifest)
    const content = await place.store.read(key).catch(() => null)
    if (content !== null && isSameJson(content, manifest)) return
    // Without its other files a manifest would only hide the damage.
    const canRepair = isRepaired && this.#findings.every((finding) => finding.isRepaired)
    if (canRepair) await place.store.write(key, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`))
    this.#add(content === null ? 'missing' : 'damaged', key, canRepair)
  }

  async #checkDerived(objects: ReadonlyMap<string, ObjectInfo>): Promise<void> {
    const { place, isRepaired } = this.#options
    for (const derived of await derivedOf(place, this.#version.snapshot, objects)) {
      const { metaKey } = derived
      const kind =
        derived.meta === null
          ? 'damaged'
          : await this.#stateOf(derived.key, objects.get(derived.key), derived.meta)
      if (kind === null) continue
      // The meta first: without it the file does not count, and is built again on demand.
      if (isRepaired) await place.store.delete([metaKey])
      if (isRepaired && derived.meta !== null) await place.store.delete([derived.key])
      this.#add(kind, derived.meta === null ? metaKey : derived.key, isRepaired)
    }
  }

  #add(kind: 'missing' | 'damaged', key: string, isRepaired: boolean): void {
    const { table, version } = this.#version
    const message = `Version ${version} of ${table}: ${key} is ${kind}.`
    this.#findings.push({ kind, key, message, isRepaired })
  }
}

function isSameJson(content: Buffer, manifest: Manifest): boolean {
  try {
    return JSON.stringify(JSON.parse(content.toString('utf8'))) === JSON.stringify(manifest)
  } catch {
    return false
  }
}
