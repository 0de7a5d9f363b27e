import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checksum, SNAPSHOT_FILES, verifySnapshot } from '@wayleave/geodata/snapshot'
import type { BackupFolder, Generation } from './backup-folder.ts'
import { type BackedUpSnapshot, type BackupRecord, tableFile } from './backup-record.ts'

/** Reads every byte of a backup and returns one sentence, with the file's name, for each damaged file. */
export async function checkBackup(
  target: BackupFolder,
  generation: Generation,
  record: BackupRecord,
  onSnapshot: (done: number) => void = () => {},
): Promise<string[]> {
  const damage: string[] = []
  for (const table of record.database.tables) {
    const path = tableFile(generation.folder, table.name)
    const size = await stat(path).then(
      (file) => file.size,
      () => null,
    )
    if (size === null) damage.push(`${path} is missing.`)
    else if (size !== table.bytes) damage.push(`${path} has ${size} bytes instead of ${table.bytes}.`)
    else if ((await checksum(path)) !== table.sha256) damage.push(`${path} has another checksum.`)
  }
  for (const [index, snapshot] of record.snapshots.entries()) {
    onSnapshot(index)
    damage.push(...(await checkSnapshot(join(target.snapshots, snapshot.name), snapshot)))
  }
  return damage
}

async function checkSnapshot(folder: string, { manifestSha256 }: BackedUpSnapshot): Promise<string[]> {
  const path = join(folder, SNAPSHOT_FILES.manifest)
  const manifest = await readFile(path).catch(() => null)
  if (manifest === null) return [`${path} is missing.`]
  // The manifest has the checksums of the other files, and the record has that of the manifest.
  if (createHash('sha256').update(manifest).digest('hex') !== manifestSha256) {
    return [`${path} has another checksum.`]
  }
  return (await verifySnapshot(folder)).map((sentence) => `${folder}: ${sentence}`)
}
