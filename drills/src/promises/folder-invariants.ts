import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../environment/processes.ts'
import type { World } from '../world.ts'
import { adoptVersions } from './settle.ts'

/** The server's cleanup at its start runs in the background. */
const SWEPT_WITHIN_MS = 15_000

/** After a start and `wayleave gc`, the data folder has only what versions refer to, and nothing partial. */
export async function checkDataFolder(world: World): Promise<void> {
  const { installation, run } = world
  // A running job has its own files.
  if (world.promises.tables.some(({ job }) => job !== null)) return
  let litter: string[] = []
  const isClean = async () => {
    for (const table of world.promises.tables)
      if (table.lateStamps.length > 0) await adoptVersions(world, table)
    litter = litterOf(world)
    return litter.length === 0
  }
  if (installation.ownFolders) {
    await checkBucket(world)
    return
  }
  if (!(await waitUntil(isClean, SWEPT_WITHIN_MS, 250))) {
    await installation.command(['gc'])
    await waitUntil(isClean, SWEPT_WITHIN_MS, 250)
  }
  run.checks++
  for (const sentence of litter)
    run.violate('nothing half-made or orphaned stays in the data folder', sentence)
}

/**
 * Every file of every version is in the bucket with its bytes. What killed processes left there without a
 * version is collected when it is ten minutes old.
 */
async function checkBucket({ installation, run }: World): Promise<void> {
  const collected = await installation.command(['gc'])
  run.expect(collected.code === 0, '`wayleave gc` succeeds', () => collected.stderr)
  const { code, stdout, stderr } = await installation.command(['storage', 'check'])
  run.expect(code === 0, 'the bucket has every file of every version', () => stdout || stderr)
}

function litterOf(world: World): string[] {
  const { dataDir } = world.installation
  return [
    ...orphanedSnapshots(world),
    ...namesIn(join(dataDir, 'staging')).map(() => 'a folder in staging/'),
    ...(isShared(world) ? [] : unfinishedFiles(dataDir)),
    ...namesIn(join(dataDir, 'snapshots')).flatMap((name) =>
      exportLitter(join(dataDir, 'snapshots', name, 'exports')),
    ),
  ]
}

function unfinishedFiles(dataDir: string): string[] {
  const mails = namesIn(join(dataDir, 'outbox')).filter((name) => name.endsWith('.part'))
  return [
    ...namesIn(join(dataDir, 'uploads')).map(() => 'a file in uploads/'),
    ...mails.map(() => 'a mail that ends in .part'),
  ]
}

/**
 * With PostgreSQL, nodes on other machines may share the folder, so no node can know at once whether an
 * upload is still arriving, a mail is being written or a snapshot is about to be referenced: uploads are kept for a
 * day, unfinished mails for a minute or two, snapshots for ten minutes.
 */
function isShared(world: World): boolean {
  return world.installation.databaseUrl !== null
}

/** A table has as many snapshot folders as versions. */
function orphanedSnapshots(world: World): string[] {
  const folders = namesIn(join(world.installation.dataDir, 'snapshots'))
  return world.promises.tables.flatMap(({ table, versions }) => {
    const count = folders.filter((name) => name.startsWith(`${table}_`)).length
    const holds = isShared(world) ? count >= versions.length : count === versions.length
    return holds ? [] : [`${count} snapshots of ${versions.length} versions of ${table}`]
  })
}

/** Every export is next to its checksum, and nothing is partial. */
function exportLitter(folder: string): string[] {
  const names = namesIn(folder).filter((name) => !name.startsWith('lock'))
  return names.flatMap((name) => {
    if (name.includes('.partial-')) return ['a partial export']
    if (name.endsWith('.meta.json')) {
      return names.includes(name.slice(0, -'.meta.json'.length)) ? [] : ['a checksum without its export']
    }
    return names.includes(`${name}.meta.json`) ? [] : ['an export without its checksum']
  })
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
