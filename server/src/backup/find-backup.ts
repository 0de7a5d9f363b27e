import type { BackupRecord } from './backup-record.ts'
import type { BackupTarget, Generation } from './backup-target.ts'
import { CopyError } from './copy-error.ts'

/** The newest backup, or the newest one made at or before a given time. */
export async function findBackup(
  target: BackupTarget,
  at: Date | null,
): Promise<{ generation: Generation; record: BackupRecord }> {
  const generations = await target.generations()
  if (generations.length === 0) throw new CopyError(`There is no backup in ${target.location}.`)
  const limit = at === null ? null : generationName(at)
  const generation = generations.findLast(({ name }) => limit === null || name <= limit)
  if (!generation) {
    throw new CopyError(
      `The oldest backup in ${target.location} is ${generations[0]!.name}, after the time that was named.`,
    )
  }
  return { generation, record: await target.read(generation) }
}

/** Some file systems do not allow a colon in file names. */
export function generationName(at: Date): string {
  return at.toISOString().replaceAll(':', '-')
}
