import type { BackupRecord } from './backup-record.ts'
import { CopyError } from './copy-error.ts'
import type { BackupTarget, Generation } from './target/backup-target.ts'

/** Which backup is meant: the newest, the newest one made at or before a time, or the one with a name. */
export type Choice = null | Date | { name: string }

export async function findBackup(
  target: BackupTarget,
  choice: Choice,
): Promise<{ generation: Generation; record: BackupRecord }> {
  const generations = await target.generations()
  if (generations.length === 0) throw new CopyError(`There is no backup in ${target.location}.`)
  const generation = await choose(target, generations, choice)
  return { generation, record: await target.read(generation) }
}

async function choose(target: BackupTarget, generations: Generation[], choice: Choice): Promise<Generation> {
  if (choice === null) return generations.at(-1)!
  const wanted = choice instanceof Date ? generationName(choice) : choice.name
  const exact = generations.find(({ name }) => name === wanted)
  if (exact) return exact
  if (!(choice instanceof Date)) {
    throw new CopyError(`There is no backup ${wanted} in ${target.location}.`)
  }
  for (const generation of generations.toReversed()) {
    if (generation.name <= wanted) return generation
    // A backup that was made after one from the future has a later name than its time.
    const record = await target.read(generation).catch(() => null)
    if (record && record.at <= choice.toISOString()) return generation
  }
  throw new CopyError(
    `The oldest backup in ${target.location} is ${generations[0]!.name}, after the time that was named.`,
  )
}

/** Runs work that reads a backup, and explains an error whose cause is that the backup was removed meanwhile. */
export async function whileItExists<T>(
  target: BackupTarget,
  { name }: Generation,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ((await target.generations()).some((generation) => generation.name === name)) throw error
    throw new CopyError(
      `The backup ${name} was removed from ${target.location} while it was read, as wayleave backup --keep does. Run the command again for another backup. If this one was restored in part, add --force, which moves that part aside.`,
      { cause: error },
    )
  }
}

/** Some file systems do not allow a colon in file names. */
function generationName(at: Date): string {
  return at.toISOString().replaceAll(':', '-')
}

/** The time in a generation's name; null if it is another name, as that of a copy made by hand. */
export function timeOfGeneration(name: string): Date | null {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/.exec(name)
  const time = new Date(parts ? `${parts[1]}:${parts[2]}:${parts[3]}` : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time
}

/**
 * Backups are ordered by name, and the newest is restored and kept. If the clock was ahead during an earlier backup,
 * `after` is that backup, and the new one gets the next name: it must not count as older than the earlier one.
 */
export function nextGenerationName(
  generations: Generation[],
  at: Date,
): { name: string; after: string | null } {
  const newest = generations.findLast(({ name }) => timeOfGeneration(name) !== null)
  const time = newest ? timeOfGeneration(newest.name)!.getTime() : Number.NEGATIVE_INFINITY
  if (time < at.getTime()) return { name: generationName(at), after: null }
  return { name: generationName(new Date(time + 1)), after: newest!.name }
}

/** Oldest first. Copies with names of their own come before all others: none of them is taken for the newest. */
export function inOrder(generations: Generation[]): Generation[] {
  const hasTime = ({ name }: Generation) => Number(timeOfGeneration(name) !== null)
  return generations.toSorted((a, b) => hasTime(a) - hasTime(b) || (a.name < b.name ? -1 : 1))
}

/**
 * The backups to remove if `keep` are kept, among them the one that was just made. Copies with names of their own
 * were made by hand: they do not count and are not removed.
 */
export function outdated(generations: Generation[], keep: number, made: Generation): Generation[] {
  const others = generations.filter(({ name }) => name !== made.name && timeOfGeneration(name) !== null)
  return others.slice(0, Math.max(0, others.length - (keep - 1)))
}
