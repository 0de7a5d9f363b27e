import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { CopyError } from './copy-error.ts'

export const RECORD_FILE = 'backup.json'

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
/** Names become paths, so they are validated before any of them is used. */
const Name = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}$' })

const BackedUpSnapshot = Type.Object({
  name: Name,
  table: Type.String(),
  version: Count,
  bytes: Count,
  /** Checksum of `manifest.json`, which holds the checksums of the other files. */
  manifestSha256: Sha256,
})

const MissingSnapshot = Type.Object({
  name: Name,
  table: Type.String(),
  version: Count,
  reason: Type.String(),
})

const BackedUpTable = Type.Object({
  name: Name,
  columns: Type.Array(Name, { minItems: 1 }),
  rows: Count,
  /** Order-independent checksum of the rows. */
  digest: Type.String({ pattern: '^[0-9a-f]{48}$' }),
  bytes: Count,
  /** Checksum of the file. */
  sha256: Sha256,
})

const Record = Type.Object({
  format: Type.Literal(1),
  at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  program: Type.String(),
  installationId: Type.Union([Type.String(), Type.Null()]),
  database: Type.Object({
    kind: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
    schemaVersion: Count,
    tables: Type.Array(BackedUpTable),
  }),
  snapshots: Type.Array(BackedUpSnapshot),
  /** Snapshots that the catalog references, but that were lost or damaged when the backup was made. */
  missing: Type.Array(MissingSnapshot),
})

/** What a backup contains. It is written last: a folder without it is not a backup. */
export type BackupRecord = Static<typeof Record>
export type BackedUpSnapshot = Static<typeof BackedUpSnapshot>
export type MissingSnapshot = Static<typeof MissingSnapshot>
export type BackedUpTable = Static<typeof BackedUpTable>

export async function readRecord(folder: string): Promise<BackupRecord> {
  const path = join(folder, RECORD_FILE)
  return parseRecord(await readFile(path, 'utf8'), path)
}

export function printRecord(record: BackupRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`
}

/** `path` is the record's name in messages. */
export function parseRecord(text: string, path: string): BackupRecord {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    throw new CopyError(`${path} is damaged: it is not JSON.`)
  }
  const format = (record as { format?: unknown } | null)?.format
  if (typeof format === 'number' && format > 1) {
    throw new CopyError(`${path} has format ${format}, and this program reads format 1. Use a newer program.`)
  }
  if (!Value.Check(Record, record)) throw new CopyError(`${path} is damaged: it is not a record of a backup.`)
  return record
}

export function tableFile(folder: string, table: string): string {
  return join(folder, 'tables', `${table}.jsonl.zst`)
}
