import type { BackupRecord } from '../backup-record.ts'
import type { Revocation } from '../revocations/revocations.ts'
import type { SnapshotCopies } from './snapshot-copies.ts'

/** One backup. */
export interface Generation {
  /** The backup's time in the format of its folder's name: `2026-01-31T12-00-00.000Z`. See `nextGenerationName`. */
  name: string
  /** Where it is: a folder, or an address in a bucket. */
  folder: string
}

/** A backup that is being made: its tables are written to a local folder. */
export interface NewGeneration {
  name: string
  folder: string
}

/**
 * The place that holds the backups, a folder or a bucket:
 *
 * - `backups/<time>/` has the state of the database at one moment and `backup.json`, the record;
 * - `snapshots/` has each snapshot once, shared by all backups that reference it;
 * - `revoked.jsonl` has the hashes of secrets that must not work again, whichever backup is restored.
 */
export interface BackupTarget {
  /** For messages. */
  readonly location: string
  /** The local folder that backups are written to, at least on their way. */
  readonly folder: string
  readonly copies: SnapshotCopies
  /** Takes the lock for a single writer, and removes what a killed writer left behind. */
  openForWriting(): Promise<() => Promise<void> | void>
  /** Oldest first. */
  generations(): Promise<Generation[]>
  read(generation: Generation): Promise<BackupRecord>
  begin(name: string): Promise<NewGeneration>
  /** Makes the backup visible, with its record. */
  finish(generation: NewGeneration, record: BackupRecord): Promise<Generation>
  /** Removes what was written of a backup that is not finished. */
  abandon(generation: NewGeneration): Promise<void>
  /**
   * Keeps the newest backups, always the one that was just made, and the snapshots they reference. Returns the names
   * of the removed backups. A backup that is being read is removed by a later call.
   */
  prune(keep: number, made: Generation): Promise<string[]>
  readRevocations(): Promise<Map<string, Revocation>>
  appendRevocations(revocations: Revocation[]): Promise<void>
  /** Runs work that reads a backup, with its tables in a local folder. Until it ends, `prune` keeps the backup. */
  withTables<T>(
    generation: Generation,
    record: BackupRecord,
    work: (folder: string) => Promise<T>,
  ): Promise<T>
  /** Runs work that needs an empty local folder, which is removed afterwards. */
  withScratch<T>(work: (folder: string) => Promise<T>): Promise<T>
  close(): Promise<void>
}
