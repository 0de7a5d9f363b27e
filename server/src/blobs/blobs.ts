/**
 * Where snapshots live: the smallest port that a folder and an object store can both serve. What is written
 * never changes.
 */
export interface Blobs {
  /** A folder on local disk that holds all files of a snapshot. */
  localFolder(snapshot: string): Promise<string>
  /** Takes over a finished local folder as a snapshot, whole or not at all. */
  writeWhole(snapshot: string, folder: string): Promise<void>
  /** The names of all snapshots. */
  list(): Promise<string[]>
  delete(snapshot: string): Promise<void>
}
