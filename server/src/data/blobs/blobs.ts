import type { Manifest, SnapshotFiles } from '@wayleave/geodata/snapshot'
import type { ObjectStore, SignedAddress } from '../../base/storage/object-store.ts'
import type { DerivedObjects } from './derived-objects.ts'

/** A snapshot that was moved to the trash, where it is kept for some days. */
export interface DiscardedSnapshot {
  /** The name of its entry in the trash. */
  entry: string
  snapshot: string
  discardedAt: Date
}

/** The storage of snapshots, in a folder or in a bucket. Snapshots are immutable once written. */
export interface Blobs {
  /** False for a bucket: local folders are then a cache of it. */
  readonly isLocal: boolean
  /** Where the snapshots are, for messages. */
  readonly location: string
  /** The local folder that holds the local folders of all snapshots. */
  readonly root: string
  /** How long a discarded snapshot must be kept because other nodes may still read it, in ms. */
  readonly minGrace: number
  /** The objects of all snapshots, for what workers tell each other about them. */
  readonly objects: ObjectStore
  /** Exports and tiles in a bucket; null if they stay in the folders of their snapshots. */
  readonly derived: DerivedObjects | null
  /** The local folder of a snapshot. With a bucket, it has only the files that were fetched. */
  localFolder(snapshot: string): Promise<string>
  /** The files of a published snapshot. */
  files(snapshot: string, manifest: Manifest): SnapshotFiles
  /** Runs work that needs files of a snapshot in its local folder: all, or those named. They stay there while it runs. */
  withFiles<T>(
    snapshot: string,
    manifest: Manifest,
    work: () => Promise<T>,
    names?: readonly string[],
  ): Promise<T>
  /**
   * After a reader has found damage in `file`: removes the local copies of the snapshot's files that do not have the
   * published bytes. True if the copies were the reason, so that reading again may succeed. False for a folder, which
   * has no copies.
   */
  discardDamagedCopies(snapshot: string, manifest: Manifest, file: string): Promise<boolean>
  /** Moves a finished local folder into the store as a snapshot. It appears whole or not at all. */
  writeWhole(snapshot: string, folder: string): Promise<void>
  /** The names of all snapshots. Names that are not valid snapshot names are skipped. */
  list(): Promise<string[]>
  /** The names of other files next to the snapshots. They are never modified. */
  listForeign(): Promise<string[]>
  /** When the snapshot was completed, by the store's clock. Null if it does not exist or is not complete. */
  placedAt(snapshot: string): Promise<Date | null>
  /** Removes a snapshot whose upload was never completed and wrote nothing since `before`. */
  removeUnfinished(snapshot: string, before: Date, dryRun: boolean): Promise<boolean>
  /** Moves a snapshot to the trash. Readers can finish. Does nothing if the snapshot does not exist. */
  discard(snapshot: string, at: Date): Promise<void>
  listTrash(): Promise<DiscardedSnapshot[]>
  /** Moves a snapshot from the trash back to its place. */
  restore(discarded: DiscardedSnapshot): Promise<void>
  /** Deletes a discarded snapshot permanently. */
  deleteDiscarded(discarded: DiscardedSnapshot): Promise<void>
  /** A signed address of a snapshot's own file; null if clients cannot reach the store. */
  signedAddress(snapshot: string, file: string, address: SignedAddress): Promise<string | null>
}
