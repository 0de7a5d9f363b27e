/** A snapshot that was moved to the trash, where it is kept for some days. */
export interface DiscardedSnapshot {
  /** The name of its folder in the trash. */
  entry: string
  snapshot: string
  discardedAt: Date
}

/**
 * The storage of snapshots: a minimal port that both a folder and an object store can implement. Snapshots
 * are immutable once written.
 */
export interface Blobs {
  /** A folder on local disk that holds all files of a snapshot. */
  localFolder(snapshot: string): Promise<string>
  /** Moves a finished local folder into the store as a snapshot, atomically. */
  writeWhole(snapshot: string, folder: string): Promise<void>
  /** The names of all snapshots. Names that are not valid snapshot names are skipped. */
  list(): Promise<string[]>
  /** The names of other files next to the snapshots. They are never modified. */
  listForeign(): Promise<string[]>
  /** When the snapshot was put in place, by the file system's clock. Null if it does not exist. */
  placedAt(snapshot: string): Promise<Date | null>
  /** Moves a snapshot to the trash. Open files stay readable. Does nothing if the snapshot does not exist. */
  discard(snapshot: string, at: Date): Promise<void>
  listTrash(): Promise<DiscardedSnapshot[]>
  /** Moves a snapshot from the trash back to its place. */
  restore(discarded: DiscardedSnapshot): Promise<void>
  /** Deletes a discarded snapshot permanently. */
  deleteDiscarded(discarded: DiscardedSnapshot): Promise<void>
}
