import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import type { Config } from '../../base/settings/config.ts'
import type { StoredPlace } from '../../data/blobs/stored-files.ts'
import type { StorageFinding } from '../../operation/verification/check-storage.ts'
import { existingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { count, megabytes, ProgressLine } from '../output/progress-line.ts'
import { withControlPlane } from '../with-parts.ts'

interface CheckFlags extends OperatorFlags {
  quick?: boolean
  repair?: boolean
  from?: string
}

interface MoveFlags extends OperatorFlags {
  to: string
  from?: string
}

export function storageCommand(): Command {
  return new Command('storage')
    .description('Where snapshots are stored.')
    .addCommand(
      operatorCommand(
        'check',
        'Compare the catalog with what is stored: missing, damaged and orphaned files. A running service goes on.',
        ['storage check', 'storage check --repair --from file:///mnt/old-data'],
      )
        .option('--quick', 'compare sizes only, without reading the files')
        .option('--repair', 'fix what can be fixed: exports and tiles are built again on demand')
        .option('--from <url>', 'with --repair: copy damaged files from this folder or bucket')
        .action(check),
    )
    .addCommand(
      operatorCommand(
        'move',
        'Copy everything that the catalog names to another folder or bucket, verified, while the service runs. If it is interrupted, run it again: it continues. Then set WAYLEAVE_STORAGE_URL and restart the nodes.',
        ['storage move --to s3://bucket/prefix', 'storage move --from s3://bucket --to file:///srv/wayleave'],
      )
        .requiredOption('--to <url>', 'the bucket (s3://bucket/prefix) or folder (file:///folder) (required)')
        .option('--from <url>', 'by default what WAYLEAVE_STORAGE_URL names, or the data folder')
        .action(move),
    )
}

async function check(flags: CheckFlags): Promise<void> {
  const config = existingConfig(flags)
  const { checkStorage } = await import('../../operation/verification/check-storage.ts')
  const { announceFiles } = await import('../../data/catalog/announce-files.ts')
  const line = new ProgressLine(process.stderr)
  const place = await openPlace(config, null)
  const copies = flags.from ? [await openPlace(config, flags.from)] : []
  // What this machine has cached may be intact.
  if (place.isBucket) copies.push(await openPlace(config, folderUrl(join(config.dataDir, 'cache'))))
  const report = await withControlPlane(flags, ({ database, changes }) =>
    checkStorage({
      db: database.db,
      announce: (table) => announceFiles(changes, table),
      place,
      isDeep: flags.quick !== true,
      isRepaired: flags.repair === true,
      copies,
      scratch: config.dataDir,
      onSnapshot: (done, total) => line.show(`Snapshots: ${done} of ${total}`),
    }),
  ).finally(() => close(line, [place, ...copies]))
  const open = report.findings.filter(({ kind, isRepaired }) => kind !== 'orphaned' && !isRepaired)
  const summary = `Checked ${count(report.snapshots, 'snapshot')} (${megabytes(report.bytes)}): ${open.length === 0 ? 'no problem' : count(open.length, 'problem')}.`
  print(flags, { ok: open.length === 0, ...report }, [...report.findings.map(textOf), summary].join('\n'))
  if (open.length > 0) process.exitCode = 1
}

async function move(flags: MoveFlags, command: Command): Promise<void> {
  const config = existingConfig(flags)
  const { settings } = await import('../../base/settings/settings.ts')
  for (const url of [flags.to, ...(flags.from === undefined ? [] : [flags.from])]) {
    const parsed = settings.storageUrl.parse(url)
    if ('expected' in parsed) command.error(`error: "${url}" is not ${parsed.expected}`, { exitCode: 2 })
  }
  const { moveStorage } = await import('../../operation/backup/move-storage.ts')
  const from = await openPlace(config, flags.from ?? null)
  const to = await openPlace(config, flags.to)
  if (from.store.location === to.store.location) {
    command.error('error: the files are there already: --to names where they are now', { exitCode: 2 })
  }
  const line = new ProgressLine(process.stderr)
  const report = await withControlPlane(flags, ({ database, changes }) =>
    moveStorage({
      database,
      changes,
      from,
      to,
      scratch: config.dataDir,
      onSnapshot: (done, total) => line.show(`Snapshots: ${done} of ${total}`),
    }),
  ).finally(() => close(line, [from, to]))
  const text = [
    `Copied ${count(report.copied, 'snapshot')} (${megabytes(report.copiedBytes)}) to ${to.store.location}; ${report.present} were there already.`,
    ...report.damaged.map(({ message }) => `Not copied: ${message} Run "wayleave storage check".`),
    `Set WAYLEAVE_STORAGE_URL=${flags.to} on every node and restart them. Then run "wayleave storage move --from ${flags.from ?? config.storageUrl ?? folderUrl(config.dataDir)} --to ${flags.to}" once more: it copies what was published in the meantime. Nothing was removed from ${from.store.location}.`,
  ]
  print(flags, { ...report, from: from.store.location, to: to.store.location }, text.join('\n'))
  if (report.damaged.length > 0) process.exitCode = 1
}

async function openPlace(config: Config, url: string | null): Promise<StoredPlace> {
  const { openStore } = await import('../../base/storage/open-store.ts')
  const storageUrl = url ?? config.storageUrl ?? folderUrl(config.dataDir)
  const givenBy = url === null ? undefined : 'the address'
  return { store: await openStore(storageUrl, config, givenBy), isBucket: storageUrl.startsWith('s3:') }
}

async function close(line: ProgressLine, places: StoredPlace[]): Promise<void> {
  line.clear()
  for (const { store } of places) await store.close()
}

function folderUrl(path: string): string {
  return pathToFileURL(path).href
}

function textOf({ message, isRepaired }: StorageFinding): string {
  return isRepaired ? `${message} Repaired.` : message
}
