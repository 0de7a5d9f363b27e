import type { Manifest } from '@wayleave/geodata/snapshot'
import type { ObjectStore } from '../../../base/storage/object-store.ts'
import type { BackedUpSnapshot } from '../backup-record.ts'
import { CopyError } from '../copy-error.ts'

export type SnapshotFiles = Manifest['files']

/** A snapshot that is lost or damaged at its source; the message names the file. */
export class DamagedSnapshotError extends CopyError {
  override name = 'DamagedSnapshotError'
}

export interface CopiedSnapshot {
  bytes: number
  manifestSha256: string
}

/** A snapshot to copy: the store that has its files, and their keys. */
export interface SnapshotSource {
  store: ObjectStore
  keyOf(file: string): string
}

/** Copies of snapshots, in a folder or a bucket: those of backups, or those of an installation that is restored. */
export interface SnapshotCopies {
  /**
   * Returns the size of an earlier copy if it exists with the right file sizes: its bytes were checked when it
   * was made, and it never changes. Null means that it must be copied (again).
   */
  copiedBefore(name: string, files: SnapshotFiles): Promise<CopiedSnapshot | null>
  /**
   * Copies a snapshot without its exports, so that it appears whole or not at all, and checks every byte against the
   * checksums on the way. Throws a DamagedSnapshotError; its `cause` is set if a file is missing.
   */
  copy(source: SnapshotSource, name: string, files: SnapshotFiles): Promise<CopiedSnapshot>
  source(name: string): SnapshotSource
  /** Null if it is missing or cannot be parsed. */
  readManifest(name: string): Promise<Manifest | null>
  /** Reads every byte and returns one sentence for each damaged file. */
  check(snapshot: BackedUpSnapshot): Promise<string[]>
}

/** Throws unless the manifest lists the same files as the catalog. */
export function requireSameFiles(manifest: Partial<Manifest> | null, files: SnapshotFiles): void {
  const names = Object.keys(files)
  const isSame =
    Object.keys(manifest?.files ?? {}).length === names.length &&
    names.every((name) => manifest?.files?.[name]?.sha256 === files[name]!.sha256)
  if (!isSame) throw new DamagedSnapshotError('manifest.json is not the one in the catalog')
}

/** File names come from a manifest; reject path traversal. */
export function checkedName(file: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(file))
    throw new DamagedSnapshotError(`"${file}" is not a file name`)
  return file
}
