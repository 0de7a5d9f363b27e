import { stat } from 'node:fs/promises'
import { checksum } from '@wayleave/geodata/snapshot'
import { type BackupRecord, tableFile } from './backup-record.ts'
import type { BackupTarget, Generation } from './target/backup-target.ts'

/**
 * Reads every byte of a backup and returns one sentence, with the file's name, for each damaged file. `tables` is
 * the local folder with the tables.
 */
export async function checkBackup(
  target: BackupTarget,
  generation: Generation,
  tables: string,
  record: BackupRecord,
  onSnapshot: (done: number) => void = () => {},
): Promise<string[]> {
  const damage: string[] = []
  for (const table of record.database.tables) {
    const path = tableFile(tables, table.name)
    const name = tableFile(generation.folder, table.name)
    const size = await stat(path).then(
      (file) => file.size,
      () => null,
    )
    if (size === null) damage.push(`${name} is missing.`)
    else if (size !== table.bytes) damage.push(`${name} has ${size} bytes instead of ${table.bytes}.`)
    else if ((await checksum(path)) !== table.sha256) damage.push(`${name} has another checksum.`)
  }
  for (const [index, snapshot] of record.snapshots.entries()) {
    onSnapshot(index)
    damage.push(...(await target.copies.check(snapshot)))
  }
  return damage
}
