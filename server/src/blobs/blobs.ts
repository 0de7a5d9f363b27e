/** A snapshot that was discarded, and is kept for some days. */
export interface DiscardedSnapshot {
  /** The name of its folder in the trash. */
  entry: string
  snapshot: string
  discardedAt: Date
}

/**
 * Where snapshots live: the smallest port that a folder and an object store can both serve. What is written
 * never changes.
 */
export interface Blobs {
  /** A folder on local disk that holds all files of a snapshot. */
  localFolder(snapshot: string): Promise<string>
  /** Takes over a finished local folder as a snapshot, whole or not at all. */
  writeWhole(snapshot: string, folder: string): Promise<void>
  /** The names of all snapshots. Names that cannot be a snapshot's are left out. */
  list(): Promise<string[]>
  /** The names beside the snapshots that are not ours. Nothing ever touches them. */
  listForeign(): Promise<string[]>
  /** When the snapshot was put in place, by the clock of the file system. Null if it is gone. */
  placedAt(snapshot: string): Promise<Date | null>
  /** Moves a snapshot to the trash. Files that are open stay readable. Does nothing if it is gone. */
  discard(snapshot: string, at: Date): Promise<void>
  listTrash(): Promise<DiscardedSnapshot[]>
  /** Moves a snapshot out of the trash to its place. */
  restore(discarded: DiscardedSnapshot): Promise<void>
  /** Deletes a discarded snapshot for good. */
  deleteDiscarded(discarded: DiscardedSnapshot): Promise<void>
}
